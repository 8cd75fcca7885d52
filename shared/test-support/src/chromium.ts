import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const headlessShell = '/usr/bin/chromium-headless-shell';
const browsers = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * Maximum wait for a page to reach the expected state, in milliseconds. The limit is long because it only has to stop
 * hanging tests.
 */
const pageTimeoutMs = 300_000;

/**
 * Starts the installed Chromium, headless and without background network traffic. Prefers the headless shell, which
 * uses less than half as much CPU time as the full browser.
 *
 * @param options.gestures whether the test needs gestures, such as the `:hover` state after a tap, which the shell
 *   lacks; `false` by default
 * @throws {Error} if Chromium is not installed
 */
export async function launchChromium({ gestures = false } = {}): Promise<Browser> {
  const places = gestures ? browsers : [headlessShell, ...browsers];
  const executablePath = places.find((place) => existsSync(place));
  if (executablePath === undefined) throw new Error(`No Chromium at any of: ${places.join(', ')}`);
  const browser = await chromium.launch({
    executablePath,
    timeout: pageTimeoutMs,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
  browser.on('context', (context) => context.setDefaultTimeout(pageTimeoutMs));
  return browser;
}
