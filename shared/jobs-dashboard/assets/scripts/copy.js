const SHOWN_MS = 2_000;

/** Makes copy buttons copy their value, or the document at their `data-from` URL, to the clipboard. */
export function copyOnClick() {
  const status = document.createElement('p');
  status.className = 'sr-only';
  status.setAttribute('role', 'status');
  document.body.append(status);
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest('.copy') : null;
    const label = button?.firstChild;
    if (!(button instanceof HTMLButtonElement) || !label) return;
    void copy(button)
      .catch(() => 'Not copied')
      .then((result) => {
        label.nodeValue = status.textContent = result;
        setTimeout(() => (label.nodeValue = 'Copy'), SHOWN_MS);
      });
  });
}

/**
 * Copies the button's value or, if it is empty, the document at the button's `data-from` URL. Browsers provide the
 * clipboard only to pages served over TLS or from this machine. On other pages, selects the displayed text instead.
 *
 * @param {HTMLButtonElement} button
 * @returns {Promise<string>} the result, to show as the button's label
 */
async function copy(button) {
  if (isSecureContext) {
    await navigator.clipboard.writeText(button.value || (await load(button.dataset['from'] ?? '')));
    return 'Copied';
  }
  const shown = button.previousElementSibling ?? button.closest('section')?.querySelector('pre');
  if (!shown) throw new Error('Nothing to select');
  getSelection()?.selectAllChildren(shown);
  return 'Selected';
}

/** @param {string} url */
async function load(url) {
  const response = await fetch(url, { cache: 'no-store', redirect: 'error' });
  if (!response.ok) throw new Error(String(response.status));
  return response.text();
}
