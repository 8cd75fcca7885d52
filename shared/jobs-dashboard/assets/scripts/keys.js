const SETTING = 'longshore-keys';

/** Actions by key. Each returns whether it did anything. @type {Record<string, () => boolean>} */
const actions = { '/': focusSearch, j: () => moveBy(1), k: () => moveBy(-1), r: focusAction, '?': showKeys };

/**
 * Handles single-key shortcuts, except in fields and dialogs. Also handles the buttons that turn the shortcuts on and
 * off.
 */
export function listenForKeys() {
  document.addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey, target } = event;
    if (ctrlKey || metaKey || altKey || isOff() || !Object.hasOwn(actions, key)) return;
    if (target instanceof Element && target.closest('input, textarea, select, dialog')) return;
    if (actions[key]?.()) event.preventDefault();
  });
  document.addEventListener('click', ({ target }) => {
    if (!(target instanceof Element) || !target.matches('.switch-keys')) return;
    localStorage.setItem(SETTING, isOff() ? 'on' : 'off');
    showSwitches(document);
  });
  showSwitches(document);
}

function focusSearch() {
  const search = document.getElementById('q');
  if (!(search instanceof HTMLInputElement)) return false;
  search.focus();
  search.select();
  return true;
}

/** Moves the focus to the main action of the page, so that Enter carries it out. Returns whether there is one. */
function focusAction() {
  const action = document.querySelector('main :is(.summary .acts, form.form) :is(button, summary, a.button)');
  if (!(action instanceof HTMLElement)) return false;
  action.focus();
  return true;
}

/**
 * Moves the focus to the link in the next or previous row of a list. Returns whether there is such a row.
 *
 * @param {number} step 1 for the next row, -1 for the previous one
 */
function moveBy(step) {
  const rows = [
    ...document.querySelectorAll('main :is(.warnings > li, .stack tbody tr, .brief > li):has(a)'),
  ].filter((row) => row.checkVisibility());
  const current = rows.findIndex((row) => row.contains(document.activeElement));
  const link = rows[current < 0 && step < 0 ? 0 : current + step]?.querySelector('a');
  link?.focus();
  return link !== undefined;
}

/**
 * Shows the help page's list of shortcuts in a dialog, or navigates to the help page if that fails. Returns `false` if
 * the page has no link to the help page.
 */
function showKeys() {
  const help = document.querySelector('nav a[href$="help"]');
  if (!(help instanceof HTMLAnchorElement)) return false;
  void openKeys(help.href).catch(() => location.assign(`${help.href}#keys`));
  return true;
}

/** @param {string} url */
async function openKeys(url) {
  const response = await fetch(url, { redirect: 'error' });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const content = page.getElementById('keys');
  if (!content || document.querySelector('dialog')) throw new Error('No shortcuts');
  showSwitches(content);
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-label', 'Keyboard shortcuts');
  const close = document.createElement('form');
  close.method = 'dialog';
  close.innerHTML = '<button>Close</button>';
  content.removeAttribute('id');
  dialog.append(content, close);
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {ParentNode} root */
function showSwitches(root) {
  for (const button of root.querySelectorAll('.switch-keys')) {
    if (!(button instanceof HTMLButtonElement)) continue;
    button.hidden = false;
    button.textContent = isOff() ? 'Turn shortcuts on' : 'Turn shortcuts off';
  }
}

function isOff() {
  return localStorage.getItem(SETTING) === 'off';
}
