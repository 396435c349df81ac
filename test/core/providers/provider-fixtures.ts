import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OperationName, ProviderError } from '../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import type { Usage } from '../../../core/contract/values/models/usage.ts';

/**
 * One call: `<case>.json`. The provider's streamed response to the same request is in `<case>.chunks.txt`, and the expected client
 * stream, if it differs, in `<case>.events.txt`.
 */
export interface CallCase {
  readonly name: string;
  readonly operation: OperationName;
  /** The purpose of the case and the documentation of its wire shape. */
  readonly about?: string;
  /** `strict_open_ai_compliance`, default true. */
  readonly strict?: boolean;
  readonly settings?: JsonObject;
  /** The client's body of the plain call. */
  readonly request: JsonObject;
  /** The parts of a form, for clients that send one; `request` has its text fields too. Files have `filename` and `base64`. */
  readonly form?: readonly {
    readonly name: string;
    readonly text?: string;
    readonly filename?: string;
    readonly contentType?: string;
    readonly base64?: string;
  }[];
  /** The expected request to the provider. */
  readonly providerRequest: JsonObject;
  readonly dropped?: readonly string[];
  readonly adapted?: readonly string[];
  /** True if the provider replies with bytes, so there is no reply to map. */
  readonly repliesBytes?: boolean;
  readonly providerReply: JsonObject;
  /** The expected reply to the client for `providerReply`. */
  readonly reply: JsonObject;
  /** Token counts other than 0. Null: the reply has none. */
  readonly usage: Partial<Usage> | null;
  readonly stream?: {
    /** Merged into the plain request together with `stream: true`. */
    readonly request?: JsonObject;
    readonly providerRequest: JsonObject;
    readonly dropped?: readonly string[];
    readonly adapted?: readonly string[];
    /** Only if the provider counts differently in streams. */
    readonly usage?: Partial<Usage> | null;
  };
  readonly chunks: string | null;
  readonly events: string | null;
}

/** One error reply of the provider: `<case>.error.json`. */
export interface ErrorCase {
  readonly name: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonObject | null;
  readonly fault: ProviderError;
}

/** Everything in `test/core/providers/<id>/fixtures`, in alphabetical order. */
export function fixturesOf(id: string): { calls: CallCase[]; errors: ErrorCase[] } {
  const folder = join(import.meta.dirname, id, 'fixtures');
  const calls: CallCase[] = [];
  const errors: ErrorCase[] = [];
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.json')) continue;
    const content = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    if (file.endsWith('.error.json')) {
      errors.push({ ...content, name: file.slice(0, -'.error.json'.length) });
      continue;
    }
    const name = file.slice(0, -'.json'.length);
    calls.push({
      ...content,
      name,
      chunks: textOf(join(folder, `${name}.chunks.txt`)),
      events: textOf(join(folder, `${name}.events.txt`)),
    });
  }
  return { calls, errors };
}

function textOf(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

/** Returns a function that reads `fixtures/<name>.json` beside a test. `folder`: the `import.meta.dirname` of the test. */
export function fixtureReader(folder: string) {
  // biome-ignore lint/suspicious/noExplicitAny: fixtures have any shape
  return (name: string): any => JSON.parse(readFileSync(join(folder, 'fixtures', `${name}.json`), 'utf8'));
}
