import { showMarks } from './marks.js';
import { Stream } from './stream.js';
import { morph } from './morph.js';
import { duration, showTimes, tellTimes } from './times.js';

const LONGEST_PAUSE_MS = 30_000;

/** Refreshes the regions of a page while someone looks at it, and says how old they are. */
export class LivePage {
  #regions;
  #status;
  #said;
  #button;
  #again;
  /** What there is no room for on a phone. */
  #how = document.createElement('span');
  #paused = false;
  #signedOut = false;
  /** @type {Map<HTMLElement, { updatedAt: number, failures: number }>} */
  #ages = new Map();
  /** @type {Map<HTMLElement, Stream>} */
  #streams = new Map();
  /** @type {Map<HTMLElement, number>} */
  #timers = new Map();

  /**
   * @param {readonly HTMLElement[]} regions
   * @param {HTMLElement} status where to say how old they are
   */
  constructor(regions, status) {
    this.#regions = regions;
    this.#status = status;
    this.#said = part(status, '.said');
    this.#button = part(status, '.pause');
    this.#again = part(status, '.again');
    this.#how.className = 'how';
    for (const region of regions) this.#ages.set(region, { updatedAt: Date.now(), failures: 0 });
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
    setInterval(() => this.#say(), 1_000);
    this.#say();
    for (const region of this.#regions) this.#plan(region);
  }

  #toggle() {
    this.#paused = !this.#paused;
    part(this.#button, 'span').textContent = this.#paused ? 'Resume updates' : 'Pause updates';
    if (!this.#paused) this.#refreshAll();
    this.#follow();
    this.#say();
  }

  #follow() {
    for (const stream of this.#streams.values()) stream.follow(!this.#paused && !document.hidden);
  }

  #refreshAll() {
    for (const region of this.#regions) void this.#refresh(region);
  }

  /** @param {HTMLElement} region */
  #plan(region) {
    clearTimeout(this.#timers.get(region));
    const everyMs = Math.min(
      Number(region.dataset['every']) * 2 ** this.#age(region).failures,
      LONGEST_PAUSE_MS,
    );
    this.#timers.set(
      region,
      setTimeout(() => void this.#refresh(region), everyMs),
    );
  }

  /** @param {HTMLElement} region */
  async #refresh(region) {
    clearTimeout(this.#timers.get(region));
    const age = this.#age(region);
    if (!this.#rests(region)) {
      try {
        if (await this.#load(region)) age.updatedAt = Date.now();
        age.failures = 0;
      } catch {
        age.failures = Math.min(age.failures + 1, 5);
      }
      this.#say();
    }
    this.#plan(region);
  }

  /**
   * Whether it is now as the server has it.
   *
   * @param {HTMLElement} region
   */
  async #load(region) {
    const response = await fetch(location.href, {
      headers: {
        'Longshore-Region': region.dataset['region'] ?? '',
        'If-None-Match': region.dataset['etag'] ?? '',
      },
      cache: 'no-store',
      redirect: 'error',
    });
    this.#signedOut = response.status === 401;
    const isLate = region.querySelector('[data-late]') !== null;
    if (response.status === 304 && !isLate) return true;
    if (!response.ok) throw new Error(String(response.status));
    const template = document.createElement('template');
    template.innerHTML = await response.text();
    // What was there is of more use than that it cannot be had.
    if (template.content.querySelector('[data-late]')) throw new Error('It took too long');
    if (this.#rests(region)) return false;
    showTimes(template.content);
    morph(region, template.content);
    region.dataset['etag'] = response.headers.get('ETag') ?? '';
    tellTimes();
    showMarks();
    return true;
  }

  /** @param {HTMLElement} region */
  #age(region) {
    const age = this.#ages.get(region);
    if (age) return age;
    throw new Error('No such region');
  }

  /**
   * Nothing moves out of sight, or that says itself what is new.
   *
   * @param {HTMLElement} region
   */
  #rests(region) {
    return this.#paused || document.hidden || this.#isStreamed(region) || this.#isHeld(region);
  }

  /** @param {HTMLElement} region */
  #isStreamed(region) {
    return this.#streams.get(region)?.isOpen === true;
  }

  /**
   * Nor under a reader who marks something or thinks about an action.
   *
   * @param {HTMLElement} region
   */
  #isHeld(region) {
    const selection = document.getSelection();
    return (
      document.querySelector('dialog') !== null ||
      (selection?.isCollapsed === false && selection.containsNode(region, true)) ||
      region.querySelector('input:checked, .act[open]') !== null
    );
  }

  /** Of all regions, how the one that is worst off does. */
  #say() {
    const asked = this.#regions.filter((region) => !this.#isStreamed(region));
    const ages = asked.map((region) => this.#age(region));
    const ageMs = Date.now() - Math.min(Date.now(), ...ages.map(({ updatedAt }) => updatedAt));
    const lost = ages.some(({ failures }) => failures > 0);
    const held = asked.some((region) => this.#isHeld(region));
    this.#status.classList.toggle('on', !lost && !held && !this.#paused);
    this.#status.classList.toggle('lost', lost);
    this.#again.hidden = !this.#signedOut;
    this.#again.textContent = 'Sign in again';
    let how = 'Live, updated';
    if (this.#signedOut) how = 'You are signed out. Last updated';
    else if (lost) how = 'No answer. Last updated';
    else if (this.#paused) how = 'Paused, updated';
    else if (held) how = 'On hold while you choose, updated';
    if (this.#how.textContent !== `${how} `) this.#how.textContent = `${how} `;
    this.#said.replaceChildren(this.#how, ageMs < 1_000 ? 'just now' : `${duration(ageMs)} ago`);
  }
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
