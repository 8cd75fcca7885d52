/**
 * Every answer that refreshes a part of a page says in its headers, too, how the whole does.
 *
 * @param {Headers} headers
 */
export function tellHealth(headers) {
  const told = headers.get('Longshore-Health');
  const place = document.getElementById('health');
  const icon = place?.querySelector('use');
  const words = place?.querySelector('span');
  if (told === null || !place || !icon || !words) return;
  const isCalm = told.startsWith('calm ');
  place.hidden = false;
  place.classList.toggle('tone-done', isCalm);
  place.classList.toggle('tone-failed', !isCalm);
  icon.setAttribute('href', isCalm ? '#i-check' : '#i-alert');
  words.textContent = told.slice(told.indexOf(' ') + 1);
}
