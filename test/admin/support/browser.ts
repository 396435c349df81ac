import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Debian's package. Browsers cannot be downloaded by the tests. */
const path = '/usr/bin/chromium';

/** Reason to skip tests in a browser; null if there is one. */
export const browserMissing = existsSync(path) ? null : `${path} is not installed (apt-get install chromium)`;

/** `rules` map hosts to addresses: browsers allow security keys only for host names. */
export function launchBrowser(rules: string): Promise<Browser> {
  return chromium.launch({ executablePath: path, args: ['--no-sandbox', '--disable-gpu', `--host-resolver-rules=${rules}`] });
}

const axeSource = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Ids of the rules of WCAG 2.2 AA and best practice that the page violates, with the elements. */
export async function violations(page: Page): Promise<string[]> {
  // Through the debugger, because the policy of the page admits no other script.
  await page.evaluate(readFileSync(axeSource, 'utf8'));
  const found = await page.evaluate(() => (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run());
  return found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' ')}`);
}

interface AxeResults {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}
