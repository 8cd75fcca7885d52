/**
 * Makes the elements in `current` match those in `next`, changing only what differs. This keeps the focus, open details
 * and the scroll position. An element with an `id` or a `data-key` matches only the element with the same `id` or
 * `data-key`, so that an open row, or a button that is about to be pressed, never turns into another one. All other
 * elements are matched by position.
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
  const wanted = new Set(after.map(keyOf));
  for (const node of before) if (!wanted.has(keyOf(node)) && keyOf(node) !== '') node.remove();
  const left = before.filter(({ parentNode }) => parentNode === parent);
  const known = new Map(left.map((node) => [keyOf(node), node]));
  known.delete('');
  for (const node of after) {
    const same = known.get(keyOf(node));
    if (same) {
      known.delete(keyOf(same));
      // Removes unkeyed nodes in front of the matching node. Moving the matching node instead would lose the focus.
      while (left[0] && left[0] !== same && keyOf(left[0]) === '') left.shift()?.remove();
      if (left[0] !== same) parent.insertBefore(same, left[0] ?? null);
      left.splice(left.indexOf(same), 1);
      morphNode(same, node);
    } else if (!left[0] || keyOf(left[0]) !== '' || keyOf(node) !== '') {
      parent.insertBefore(node, left[0] ?? null);
    } else {
      const present = left.shift();
      if (present?.nodeName === node.nodeName) morphNode(present, node);
      else present?.replaceWith(node);
    }
  }
  for (const surplus of left) surplus.remove();
}

/**
 * @param {ChildNode} present
 * @param {ChildNode} node
 */
function morphNode(present, node) {
  if (!(present instanceof Element && node instanceof Element)) {
    if (present.nodeValue !== node.nodeValue) present.nodeValue = node.nodeValue;
    return;
  }
  for (const name of present.getAttributeNames()) {
    if (!node.hasAttribute(name) && !isReaders(present, name)) present.removeAttribute(name);
  }
  for (const { name, value } of node.attributes) {
    if (present.getAttribute(name) !== value && !isReaders(present, name)) present.setAttribute(name, value);
  }
  morphList(present, [...present.childNodes], [...node.childNodes]);
}

/** @param {Node} node */
function keyOf(node) {
  if (!(node instanceof Element)) return '';
  const name = node.id || node.getAttribute('data-key');
  return name ? `${node.nodeName} ${name}` : '';
}

/**
 * Returns whether the viewer, not the server, controls the attribute.
 *
 * @param {Element} element
 * @param {string} attribute
 */
function isReaders(element, attribute) {
  return attribute === 'open' && element instanceof HTMLDetailsElement;
}
