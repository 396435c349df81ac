import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OperationName, ProviderError } from '../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../core/contract/values/json.ts';
import type { Usage } from '../../../core/contract/values/usage.ts';

/**
 * One call as it travels: `<case>.json`, with the provider's streamed answer to the same question beside it in
 * `<case>.chunks.txt` and, where the client's stream differs from it, the expected one in `<case>.events.txt`.
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
  /** True where the provider answers with bytes: then there is no reply to map. */
  readonly answersBytes?: boolean;
  readonly providerReply: JsonObject;
  /** The expected reply to the client for `providerReply`. */
  readonly reply: JsonObject;
  /** Token counts that are not 0; null = the reply carries none. */
  readonly usage: Partial<Usage> | null;
  readonly stream?: {
    /** Laid over the plain request together with `stream: true`. */
    readonly request?: JsonObject;
    readonly providerRequest: JsonObject;
    readonly dropped?: readonly string[];
    readonly adapted?: readonly string[];
    /** Only where the provider itself counts differently when it streams. */
    readonly usage?: Partial<Usage> | null;
  };
  readonly chunks: string | null;
  readonly events: string | null;
}

/** One refusal of the provider: `<case>.error.json`. */
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
