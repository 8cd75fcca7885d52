/**
 * Makes the elements in `current` like those in `next` and touches only what differs, so that focus, open details, and
 * the reader's place stay.
 *
 * @param {Element} current
 * @param {ParentNode} next
 */
export function morph(current, next) {
  morphList(current, [...current.children], [...next.children]);
}

/**
 * @param {Element} parent
 * @param {readonly ChildNode[]} before
 * @param {readonly ChildNode[]} after
 */
function morphList(parent, before, after) {
  for (const [index, node] of after.entries()) {
    const present = before[index];
    if (present === undefined) parent.append(node);
    else if (!alike(present, node)) present.replaceWith(node);
    else if (present instanceof Element && node instanceof Element) morphElement(present, node);
    else if (present.nodeValue !== node.nodeValue) present.nodeValue = node.nodeValue;
  }
  for (const surplus of before.slice(after.length)) surplus.remove();
}

/**
 * @param {Element} present
 * @param {Element} node
 */
function morphElement(present, node) {
  for (const name of present.getAttributeNames()) {
    if (!node.hasAttribute(name) && !isReaders(present, name)) present.removeAttribute(name);
  }
  for (const { name, value } of node.attributes) {
    if (present.getAttribute(name) !== value && !isReaders(present, name)) present.setAttribute(name, value);
  }
  morphList(present, [...present.childNodes], [...node.childNodes]);
}

/**
 * @param {Node} one
 * @param {Node} other
 */
function alike(one, other) {
  return one.nodeName === other.nodeName && idOf(one) === idOf(other);
}

/** @param {Node} node */
function idOf(node) {
  return node instanceof Element ? node.id : '';
}

/**
 * What the reader sets, not the server.
 *
 * @param {Element} element
 * @param {string} attribute
 */
function isReaders(element, attribute) {
  return attribute === 'open' && element instanceof HTMLDetailsElement;
}
