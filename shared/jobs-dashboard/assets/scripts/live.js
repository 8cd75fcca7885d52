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
  #updatedAt = Date.now();
  #failures = 0;
  #paused = false;
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
  }

  start() {
    part(this.#status, '.again').hidden = true;
    this.#button.hidden = false;
    this.#button.addEventListener('click', () => this.#toggle());
    for (const region of this.#regions) {
      if (region.dataset['stream']) this.#streams.set(region, new Stream(region, () => this.#refreshAll()));
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
    this.#button.textContent = this.#paused ? 'Resume updates' : 'Pause updates';
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
    const everyMs = Math.min(Number(region.dataset['every']) * 2 ** this.#failures, LONGEST_PAUSE_MS);
    this.#timers.set(
      region,
      setTimeout(() => void this.#refresh(region), everyMs),
    );
  }

  /** @param {HTMLElement} region */
  async #refresh(region) {
    clearTimeout(this.#timers.get(region));
    if (!this.#rests(region)) {
      try {
        await this.#load(region);
        this.#failures = 0;
        this.#updatedAt = Date.now();
      } catch {
        this.#failures = Math.min(this.#failures + 1, 5);
      }
      this.#say();
    }
    this.#plan(region);
  }

  /** @param {HTMLElement} region */
  async #load(region) {
    const response = await fetch(location.href, {
      headers: {
        'Longshore-Region': region.dataset['region'] ?? '',
        'If-None-Match': region.dataset['etag'] ?? '',
      },
      cache: 'no-store',
      redirect: 'error',
    });
    if (response.status === 304) return;
    if (!response.ok) throw new Error(String(response.status));
    const template = document.createElement('template');
    template.innerHTML = await response.text();
    if (this.#rests(region)) return;
    showTimes(template.content);
    morph(region, template.content);
    region.dataset['etag'] = response.headers.get('ETag') ?? '';
    tellTimes();
    showMarks();
  }

  /**
   * Nothing moves under a reader who marks something, or out of sight.
   *
   * @param {HTMLElement} region
   */
  #rests(region) {
    if (this.#paused || document.hidden || document.querySelector('dialog') || region.dataset['stream'])
      return true;
    const selection = document.getSelection();
    if (selection && !selection.isCollapsed && selection.containsNode(region, true)) return true;
    return region.querySelector('input:checked') !== null;
  }

  #say() {
    const ageMs = Date.now() - this.#updatedAt;
    const age = ageMs < 1_000 ? 'just now' : `${duration(ageMs)} ago`;
    const lost = this.#failures > 0;
    this.#status.classList.toggle('on', !lost && !this.#paused);
    this.#status.classList.toggle('lost', lost);
    if (lost) this.#said.textContent = `No answer. Last updated ${age}`;
    else this.#said.textContent = `${this.#paused ? 'Paused' : 'Live'}, updated ${age}`;
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
