import { confirmInPlace } from './confirm.js';
import { copyOnClick } from './copy.js';
import { listenForKeys } from './keys.js';
import { LivePage } from './live.js';
import { countMarks } from './marks.js';
import { setClock, showTimes, updateTimes } from './times.js';

// Removes the flash message from the URL, so that neither a reload nor the browser history shows it again.
const here = new URL(location.href);
if (here.searchParams.has('done')) {
  here.searchParams.delete('done');
  history.replaceState(history.state, '', here);
  const flash = document.querySelector('main > [role=status]');
  if (flash instanceof HTMLElement) flash.focus();
}

const made = document.querySelector('#live time');
if (made instanceof HTMLTimeElement) setClock(made.dateTime);
showTimes(document);
setInterval(updateTimes, 1_000);

countMarks();
confirmInPlace();
copyOnClick();
// Makes Safari apply `:hover` to tapped elements. On touch screens, a tapped time then shows its `title`.
document.addEventListener('touchstart', () => {}, { passive: true });

const status = document.getElementById('live');
/** @type {HTMLElement[]} */
const regions = [...document.querySelectorAll('[data-region]')].filter(
  (element) => element instanceof HTMLElement,
);
if (status && regions.length > 0) new LivePage(regions, status).start();

// On a phone, the navigation and the tabs scroll sideways. Scrolls the current item into view without scrolling the
// page.
for (const current of document.querySelectorAll('nav [aria-current]')) {
  const line = current.closest('.ways, .tabs ul');
  if (!line) continue;
  const [own, whole] = [current.getBoundingClientRect(), line.getBoundingClientRect()];
  line.scrollLeft += own.left + own.width / 2 - whole.left - whole.width / 2;
}

listenForKeys();
