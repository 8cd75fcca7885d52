import { confirmInPlace } from './confirm.js';
import { LivePage } from './live.js';
import { countMarks } from './marks.js';
import { listenForSlash } from './shortcut.js';
import { setClock, showTimes, updateTimes } from './times.js';

// Flash messages appear once: neither a reload nor the history repeats them.
const here = new URL(location.href);
if (here.searchParams.has('done')) {
  here.searchParams.delete('done');
  history.replaceState(history.state, '', here);
}

const made = document.querySelector('#live time');
if (made instanceof HTMLTimeElement) setClock(made.dateTime);
showTimes(document);
setInterval(updateTimes, 1_000);

countMarks();
confirmInPlace();

const status = document.getElementById('live');
/** @type {HTMLElement[]} */
const regions = [...document.querySelectorAll('[data-region]')].filter(
  (element) => element instanceof HTMLElement,
);
if (status && regions.length > 0) new LivePage(regions, status).start();

// On a phone, navigation and tabs are one line each, and the current item may be out of view.
for (const current of document.querySelectorAll('[aria-current]')) {
  current.scrollIntoView({ block: 'nearest', inline: 'center' });
}

listenForSlash();
