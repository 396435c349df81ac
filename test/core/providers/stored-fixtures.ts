import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OperationName } from '../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';

/** Functions about files, batches and fine-tuning jobs, and the two about jobs that pass through. */
export type StoredFunction = OperationName | 'listFinetuneEvents' | 'listFinetuneCheckpoints';

/** A body, one of: JSON; lines of JSON; a form; text as it is; bytes in base64. None of them: no body. */
export interface WrittenBody {
  readonly json?: JsonObject;
  readonly lines?: readonly JsonObject[];
  readonly form?: readonly { readonly name: string; readonly text: string; readonly filename?: string; readonly type?: string }[];
  readonly text?: string;
  readonly base64?: string;
}

/** The client's request: `POST /v1/batches`. A body brings its content type. */
interface WrittenRequest extends WrittenBody {
  readonly line: string;
  readonly headers?: Readonly<Record<string, string | null>>;
}

/** One exchange with the provider. Exchanges are in the order in which they begin. */
export interface WrittenExchange {
  /** `POST https://api.openai.com/v1/batches`. Only its headers and those of the family may be sent. */
  readonly request: WrittenRequest;
  /** True if the client still gets a reply, with fewer fields, when this exchange fails. */
  readonly optional?: true;
  /** Default status 200; a body brings its content type. */
  readonly response: WrittenBody & { readonly status?: number; readonly headers?: Readonly<Record<string, string>> };
}

/** One call of a client from end to end. */
export interface StoredCase {
  readonly operation: StoredFunction;
  readonly name: string;
  readonly request: WrittenRequest;
  readonly exchanges: readonly WrittenExchange[];
  /** The expected reply; `as sent`: the exact bytes and status of the last exchange. */
  readonly reply: 'as sent' | (WrittenBody & { readonly status?: number; readonly headers?: Readonly<Record<string, string>> });
}

/** The calls about one family: `fixtures/stored/{files,batches,fine-tuning}.json`. */
export interface StoredFile {
  readonly family: string;
  /** The documentation of the wire shapes, and which of them are from memory. */
  readonly about: string;
  /** The config target of the calls, credentials included. */
  readonly target: JsonObject;
  /** Headers of every exchange with the provider, unless an exchange says another value, or null for none. */
  readonly headers: Readonly<Record<string, string>>;
  /** The provider's error reply, which any exchange may get. */
  readonly refusal: WrittenExchange['response'] & { readonly status: number; readonly message: string };
  readonly cases: readonly StoredCase[];
}

/** Returns the fixtures in this folder, by family; empty if there is no such folder. */
export function storedFixturesOf(folder: string): StoredFile[] {
  const path = join(import.meta.dirname, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .sort()
    .map((file) => ({ family: file.replace(/\.json$/, ''), ...JSON.parse(readFileSync(join(path, file), 'utf8')) }));
}
