/**
 * Makes the content of `current` like that of `next` and touches only what differs, so that focus, open details, and
 * the reader's place stay.
 */
export function morph(current, next) {
  const before = [...current.childNodes];
  const after = [...next.childNodes];
  after.forEach((node, index) => {
    const present = before[index];
    if (present === undefined) current.append(node);
    else if (!alike(present, node)) present.replaceWith(node);
    else if (node.nodeType === Node.ELEMENT_NODE) morphElement(present, node);
    else if (present.nodeValue !== node.nodeValue) present.nodeValue = node.nodeValue;
  });
  for (const surplus of before.slice(after.length)) surplus.remove();
}

function morphElement(present, node) {
  for (const { name } of [...present.attributes]) {
    if (!node.hasAttribute(name) && !isReaders(present, name)) present.removeAttribute(name);
  }
  for (const { name, value } of node.attributes) {
    if (present.getAttribute(name) !== value && !isReaders(present, name)) present.setAttribute(name, value);
  }
  morph(present, node);
}

function alike(one, other) {
  return one.nodeType === other.nodeType && one.nodeName === other.nodeName && one.id === other.id;
}

/** What the reader sets, not the server. */
function isReaders(element, attribute) {
  return attribute === 'open' && element instanceof HTMLDetailsElement;
}
