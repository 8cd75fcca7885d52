import { morph } from './morph.js';
import { showTimes } from './times.js';

/**
 * Shows the confirmation page of a bulk action in a dialog on top of the list. If that fails, navigates to the page.
 */
export function confirmInPlace() {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || !isConfirmation(link.href) || isElsewhere(event)) return;
    event.preventDefault();
    void ask(link.href);
  });
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.method !== 'get') return;
    // Reads the attribute, because the form has buttons named `action`, and `form.action` returns those.
    const action = new URL(form.getAttribute('action') ?? '', location.href).href;
    if (!isConfirmation(action)) return;
    event.preventDefault();
    const fields = [...new FormData(form, event.submitter)].filter(
      /** @returns {field is [string, string]} */ (field) => typeof field[1] === 'string',
    );
    void ask(`${action}?${new URLSearchParams(fields)}`);
  });
}

let opening = false;

/** @param {string} url */
async function ask(url) {
  // Ignores the second click of a double click.
  if (opening) return;
  opening = true;
  try {
    const response = await fetch(url, { cache: 'no-store', redirect: 'error' });
    if (!response.ok) throw new Error(String(response.status));
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    open(page.querySelector('main'), response.url);
  } catch {
    location.assign(url);
  } finally {
    opening = false;
  }
}

/**
 * Opens a dialog with the content of a confirmation page.
 *
 * @param {Element | null} content the main element of the page, if it has one
 * @param {string} base the URL of the page; links and forms in the content are relative to it
 */
function open(content, base) {
  const title = content?.querySelector('h1');
  if (!content || !title) throw new Error('The page has no confirmation');
  settle(content, base);
  showTimes(content);
  title.id = 'confirmation';
  content.querySelector('.masthead')?.replaceWith(title);
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', title.id);
  dialog.append(...content.childNodes);
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', (event) => {
    const { target } = event;
    if (target !== dialog && !(target instanceof Element && target.closest('.back'))) return;
    event.preventDefault();
    dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  focusBack(dialog);
  const region = dialog.querySelector('[data-region]');
  if (region instanceof HTMLElement) void complete(region, base);
}

/**
 * Reloads a dialog's region every half second until the region is complete or the dialog is closed. The server marks an
 * incomplete region with a refresh interval of 500 ms. `LivePage` does not reload the region, because it refreshes
 * nothing while a dialog is open.
 *
 * @param {HTMLElement} region
 * @param {string} url the URL of the confirmation page
 */
async function complete(region, url) {
  while (region.dataset['every'] === '500') {
    await new Promise((resolve) => setTimeout(resolve, 500));
    if (!region.isConnected) return;
    const response = await fetch(url, { cache: 'no-store', redirect: 'error' });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const fresh = page.querySelector('[data-region]');
    if (!(fresh instanceof HTMLElement)) return;
    settle(fresh, url);
    showTimes(fresh);
    morph(region, fresh);
    region.dataset['every'] = fresh.dataset['every'];
    const dialog = region.closest('dialog');
    if (dialog && !dialog.contains(document.activeElement)) focusBack(dialog);
  }
}

/**
 * Focuses the link that closes the dialog, because going back is the safe choice.
 *
 * @param {HTMLDialogElement} dialog
 */
function focusBack(dialog) {
  const back = dialog.querySelector('.back');
  if (back instanceof HTMLElement) back.focus();
}

/**
 * Makes the URLs of links and forms absolute.
 *
 * @param {Element} content
 * @param {string} base the URL that the links and forms are relative to
 */
function settle(content, base) {
  for (const element of content.querySelectorAll('a[href], form[action]')) {
    const name = element.hasAttribute('href') ? 'href' : 'action';
    element.setAttribute(name, new URL(element.getAttribute(name) ?? '', base).href);
  }
}

/** @param {string} url */
function isConfirmation(url) {
  return new URL(url, location.href).pathname.endsWith('/bulk/confirm');
}

/** @param {MouseEvent} event */
function isElsewhere({ button, ctrlKey, metaKey, shiftKey, altKey }) {
  return button !== 0 || ctrlKey || metaKey || shiftKey || altKey;
}
