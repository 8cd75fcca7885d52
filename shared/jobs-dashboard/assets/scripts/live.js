import { Age } from './age.js';
import { showMarks } from './marks.js';
import { Stream } from './stream.js';
import { morph } from './morph.js';
import { duration, showTimes, updateTimes } from './times.js';

/** Refreshes the regions of a page while the page is visible, and shows how old the regions' content is. */
export class LivePage {
  #regions;
  #status;
  #ageText;
  #button;
  #again;
  /** The part of the status text that is hidden on phones. */
  #how = document.createElement('span');
  #paused = false;
  #signedOut = false;
  /** @type {Map<HTMLElement, Age>} */
  #ages = new Map();
  /** @type {Map<HTMLElement, Stream>} */
  #streams = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {readonly HTMLElement[]} regions
   * @param {HTMLElement} status the element that shows the age of the regions
   */
  constructor(regions, status) {
    this.#regions = regions;
    this.#status = status;
    this.#ageText = part(status, '.text');
    this.#button = part(status, '.pause');
    this.#again = part(status, '.again');
    this.#how.className = 'how';
    for (const region of regions) this.#ages.set(region, new Age(region));
  }

  start() {
    this.#button.hidden = false;
    this.#button.addEventListener('click', () => this.#toggle());
    for (const region of this.#regions) {
      if (!region.dataset['stream']) continue;
      const ended = () => {
        this.#streams.delete(region);
        this.#refreshAll();
      };
      this.#streams.set(region, new Stream(region, ended));
    }
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.#refreshAll();
      this.#follow();
    });
    this.#follow();
    setInterval(() => this.#showAge(), 1_000);
    this.#showAge();
    this.#plan();
  }

  #toggle() {
    const isHeld = this.#regions.some((region) => this.#use(region) !== '');
    if (isHeld) letGo(this.#regions);
    this.#paused = !this.#paused && !isHeld;
    if (!this.#paused) this.#refreshAll();
    this.#follow();
    this.#showAge();
  }

  #follow() {
    for (const stream of this.#streams.values()) stream.follow(!this.#paused && !document.hidden);
  }

  #refreshAll() {
    void this.#refresh(this.#regions);
  }

  #plan() {
    clearTimeout(this.#timer);
    const dueAt = Math.min(...this.#regions.map((region) => this.#age(region).dueAt));
    if (dueAt === Infinity) return;
    this.#timer = setTimeout(() => {
      const now = Date.now();
      void this.#refresh(this.#regions.filter((region) => this.#age(region).isDue(now)));
    }, dueAt - Date.now());
  }

  /** @param {readonly HTMLElement[]} regions */
  async #refresh(regions) {
    for (const region of regions) this.#age(region).dueAt = Infinity;
    const due = regions.filter((region) => !this.#rests(region));
    if (due.length > 0) {
      try {
        this.#show(due, await this.#load(due));
      } catch {
        for (const region of due) this.#age(region).failed();
      }
      this.#showAge();
    }
    for (const region of regions) this.#age(region).plan();
    this.#plan();
  }

  /**
   * Loads the regions. Returns a fragment with only the regions that have changed since they were last loaded.
   *
   * @param {readonly HTMLElement[]} regions
   */
  async #load(regions) {
    const template = document.createElement('template');
    const known = regions.filter((region) => !region.querySelector('[data-late]'));
    const response = await fetch(location.href, {
      headers: {
        'Longshore-Region': regions.map((region) => region.dataset['region']).join(', '),
        'If-None-Match': known.map((region) => region.dataset['etag']).join(', '),
      },
      cache: 'no-store',
      redirect: 'error',
    });
    this.#signedOut = response.status === 401;
    showHealth(response.headers.get('Longshore-Health'));
    if (response.status === 304) return template.content;
    if (!response.ok) throw new Error(String(response.status));
    template.innerHTML = await response.text();
    return template.content;
  }

  /**
   * @param {readonly HTMLElement[]} regions the requested regions
   * @param {DocumentFragment} news the regions that have changed
   */
  #show(regions, news) {
    showTimes(news);
    for (const region of regions) {
      const fresh = news.querySelector(`[data-region="${region.dataset['region']}"]`);
      // Keeps the old content if the server could not load the region in time.
      if (fresh?.querySelector('[data-late]')) this.#age(region).failed();
      else if (!(fresh instanceof HTMLElement)) this.#age(region).updated();
      else if (!this.#rests(region)) {
        morph(region, fresh);
        region.dataset['etag'] = fresh.dataset['etag'];
        region.dataset['every'] = fresh.dataset['every'];
        this.#age(region).updated();
      }
    }
    updateTimes();
    showMarks();
  }

  /** @param {HTMLElement} region */
  #age(region) {
    const age = this.#ages.get(region);
    if (age) return age;
    throw new Error('No such region');
  }

  /**
   * Returns whether the region must not be refreshed now, because updates are paused, the page is hidden, or the region
   * is streamed or in use.
   *
   * @param {HTMLElement} region
   */
  #rests(region) {
    return this.#paused || document.hidden || this.#isStreamed(region) || this.#use(region) !== '';
  }

  /** @param {HTMLElement} region */
  #isStreamed(region) {
    return this.#streams.get(region)?.isOpen === true;
  }

  /**
   * Returns why a refresh would disturb the viewer, as a clause; empty if it would not.
   *
   * @param {HTMLElement} region
   */
  #use(region) {
    const selection = document.getSelection();
    if (document.querySelector('dialog') || region.querySelector('.act[open]')) return 'a form is open';
    const changed = [...region.querySelectorAll('input')].find((box) => box.checked !== box.defaultChecked);
    if (changed) return changed.closest('td, th') ? 'rows are selected' : 'a form is open';
    return selection?.isCollapsed === false && selection.containsNode(region, true) ? 'text is selected' : '';
  }

  /**
   * Shows the age of the region that was updated least recently, not counting streamed regions. If updates have
   * stopped, also shows why.
   */
  #showAge() {
    for (const region of this.#regions) if (this.#isStreamed(region)) this.#age(region).updated();
    const polled = this.#regions.filter((region) => !this.#isStreamed(region));
    const ages = polled.map((region) => this.#age(region));
    const ageMs = Date.now() - Math.min(Date.now(), ...ages.map(({ updatedAt }) => updatedAt));
    const lost = ages.some(({ failures }) => failures > 0);
    const use = polled.map((region) => this.#use(region)).find(Boolean) ?? '';
    const rests = this.#paused || use !== '';
    part(this.#button, 'span').textContent = rests ? 'Resume updates' : 'Pause updates';
    this.#status.classList.toggle('on', !lost && !rests);
    this.#status.classList.toggle('lost', lost);
    this.#again.hidden = !this.#signedOut;
    this.#again.textContent = 'Sign in again';
    let how = 'Live, updated';
    if (this.#signedOut) how = 'You are signed out. As of';
    else if (lost) how = 'No response. As of';
    else if (this.#paused) how = 'Paused, as of';
    else if (use !== '') how = `Paused while ${use}, as of`;
    if (this.#how.textContent !== `${how} `) this.#how.textContent = `${how} `;
    this.#ageText.replaceChildren(this.#how, ageMs < 1_000 ? 'just now' : `${duration(ageMs)} ago`);
  }
}

/**
 * Gives up what keeps regions from being refreshed: selected text and rows, and open forms.
 *
 * @param {readonly HTMLElement[]} regions
 */
function letGo(regions) {
  document.getSelection()?.removeAllRanges();
  for (const region of regions) {
    for (const form of region.querySelectorAll('.act[open]')) form.removeAttribute('open');
    for (const box of region.querySelectorAll('input')) box.checked = box.defaultChecked;
  }
  showMarks();
}

/**
 * @param {HTMLElement} root
 * @param {string} selector
 * @returns {HTMLElement}
 */
function part(root, selector) {
  const found = root.querySelector(selector);
  if (found instanceof HTMLElement) return found;
  throw new Error(`No ${selector} on this page`);
}

/**
 * Shows the overall health on the page.
 *
 * @param {string | null} health the `Longshore-Health` header: a tone and a text, such as `attention 2 warnings`;
 *   `null` if the response has no such header
 */
function showHealth(health) {
  const place = document.getElementById('health');
  if (!health || !place) return;
  const calm = health.startsWith('calm');
  place.hidden = false;
  place.className = `state tone-${calm ? 'done' : 'failed'}`;
  place.querySelector('use')?.setAttribute('href', calm ? '#i-check' : '#i-alert');
  const [, figure = '', words = ''] = /^\w+ (\d*)(.*)/.exec(health) ?? [];
  part(place, 'b').textContent = figure;
  part(place, 'span').textContent = words;
}
