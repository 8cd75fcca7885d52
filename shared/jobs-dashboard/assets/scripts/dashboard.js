import { LivePage } from './live.js';
import { showTimes, tellTimes } from './times.js';

showTimes(document);
setInterval(tellTimes, 1_000);

const status = document.getElementById('live');
const regions = [...document.querySelectorAll('[data-region]')];
if (status && regions.length > 0) new LivePage(regions, status).start();

document.addEventListener('keydown', (event) => {
  const search = document.getElementById('q');
  const typing = event.target instanceof Element && event.target.closest('input, textarea, select');
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || typing || !search) return;
  event.preventDefault();
  search.focus();
  search.select();
});
