import { confirmInPlace } from './confirm.js';
import { LivePage } from './live.js';
import { countMarks } from './marks.js';
import { listenForSlash } from './shortcut.js';
import { setClock, showTimes, tellTimes } from './times.js';

const made = document.querySelector('#live time');
if (made instanceof HTMLTimeElement) setClock(made.dateTime);
showTimes(document);
setInterval(tellTimes, 1_000);

countMarks();
confirmInPlace();

const status = document.getElementById('live');
/** @type {HTMLElement[]} */
const regions = [...document.querySelectorAll('[data-region]')].filter(
  (element) => element instanceof HTMLElement,
);
if (status && regions.length > 0) new LivePage(regions, status).start();

// On a phone navigation and tabs are one line each, and where one is may be out of sight.
for (const here of document.querySelectorAll('[aria-current]')) {
  here.scrollIntoView({ block: 'nearest', inline: 'center' });
}

listenForSlash();
