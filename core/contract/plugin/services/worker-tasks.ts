import type { Maybe } from '../../values/maybe.ts';
import type { PiiCategory } from '../guardrails/pii-categories.ts';

/** Tasks that can run off the main thread, with their inputs and outputs. Both are plain data that can be copied to a thread. */
export interface WorkerTasks {
  /** Tokens of texts by the o200k_base encoding. */
  'count-tokens': { readonly input: { readonly texts: readonly string[] }; readonly output: number };
  /** Matches of a RE2 pattern in texts, and the texts with the matches replaced. */
  'match-pattern': { readonly input: PatternInput; readonly output: PatternOutput };
  /** The first match in a part of a text. Runs inline: bounds of the caller keep parts small. */
  'search-pattern': { readonly input: PatternSearch; readonly output: PatternSpan | null };
  /** Bounds of the matches of a pattern. Runs inline. */
  'measure-pattern': { readonly input: Pick<PatternSearch, 'pattern' | 'flags'>; readonly output: PatternReach };
  /** Errors of a JSON value against a JSON Schema, draft 2020-12. */
  'check-schema': { readonly input: SchemaInput; readonly output: readonly SchemaError[] };
  /** Errors of arguments or of a result of a tool against the schema that its server declares. */
  'check-tool-value': { readonly input: SchemaInput; readonly output: ToolValueVerdict };
  /** Personal data in texts that belong together, in the order of the texts. */
  'find-pii': { readonly input: PiiInput; readonly output: Found };
  /** Secrets in texts that belong together, in the order of the texts. */
  'find-secrets': { readonly input: FindInput; readonly output: Found };
  /** The texts without disguises, on one line each. */
  normalize: { readonly input: { readonly texts: readonly string[] }; readonly output: string };
  /** Facts about a text that need every character of it. */
  'scan-text': { readonly input: ScanInput; readonly output: Scans[keyof Scans] };
  /** The words among the given ones that the texts hold. */
  'find-words': { readonly input: WordsInput; readonly output: readonly string[] };
  /** Likely languages of a text, the best first. */
  'detect-language': { readonly input: { readonly text: string }; readonly output: readonly LanguageGuess[] };
  'rate-gibberish': { readonly input: { readonly text: string }; readonly output: GibberishRating };
  /** Signs of prompt injection in texts. */
  'score-injection': { readonly input: { readonly texts: readonly string[] }; readonly output: InjectionScore };
}

interface ScanInput {
  readonly scan: keyof Scans;
  readonly text: string;
}

/** Results of `scan-text` by the name of the scan. */
export interface Scans {
  /** Characters that end sentences. */
  readonly sentences: number;
  /** Parts that white space separates. */
  readonly words: number;
  readonly 'has-lower-case': boolean;
  readonly 'has-upper-case': boolean;
  /** The words behind the fences of code blocks, each once. */
  readonly 'code-languages': readonly string[];
  /** The URLs without repetition. */
  readonly urls: readonly string[];
  /** The JSON object or list of the first code block that has one, otherwise of the first brace; null if there is none. */
  readonly json: unknown;
}

export interface WordsInput {
  readonly texts: readonly string[];
  readonly words: readonly string[];
  /** True: texts and words are compared without disguises. */
  readonly isNormalized: boolean;
}

export interface LanguageGuess {
  /** ISO 639-1. */
  readonly language: string;
  /** 0 to 1. */
  readonly share: number;
}

export interface GibberishRating {
  /** Mean natural logarithm of the probability of each letter; null: the text is not rated. */
  readonly likelihood: number | null;
  /** 0 to 1: share of repeated words or letters. */
  readonly repetition: number;
}

export interface InjectionScore {
  /** 0 to 1. */
  readonly score: number;
  /** Names of the signs that were found. */
  readonly signals: readonly string[];
}

export interface FindInput {
  readonly texts: readonly string[];
  /** True: the texts with placeholders are returned. */
  readonly redact: boolean;
  /** Placeholders that the request has already, with the texts that they stand for; null: these are not wanted. */
  readonly known: readonly (readonly [placeholder: string, value: string])[] | null;
}

export interface PiiInput extends FindInput {
  readonly categories: readonly PiiCategory[];
  /** Workspace for which the thread remembers positions of findings by the SHA-256 of each text. Absent: none are remembered. */
  readonly owner?: string | undefined;
}

/** Parts of texts that were found. A placeholder such as `{{EMAIL_ADDRESS_1}}` stands for each different one. */
export interface Found {
  /** The different kinds, in the order of the texts. */
  readonly kinds: readonly string[];
  /** The first 100 parts, in the order of the texts. */
  readonly shown: readonly { readonly kind: string; readonly placeholder: string }[];
  /** The beginning of the texts with placeholders. */
  readonly beginning: string;
  /** The texts with placeholders; null if they are not wanted, or nothing was found. */
  readonly replaced: readonly string[] | null;
  /** New placeholders with the texts that they stand for; empty if they are not wanted. */
  readonly added: readonly (readonly [placeholder: string, value: string])[];
}

export interface PatternInput {
  /** RE2 syntax, at most 256 characters. */
  readonly pattern: string;
  /** `i`, `m` and `s` as in JavaScript; `g` replaces all matches instead of the first in each text. */
  readonly flags: string;
  readonly texts: readonly string[];
  /** Text that takes the place of matches; null: nothing is replaced. */
  readonly replacement: string | null;
}

export interface PatternOutput {
  /** The first match in the first text that has one; null: no text matches. */
  readonly match: PatternMatch | null;
  /** The texts after the replacement; null if nothing was replaced. */
  readonly replaced: readonly string[] | null;
}

export interface PatternMatch {
  readonly text: string;
  /** UTF-16 code units before the match. */
  readonly index: number;
  readonly captures: readonly (string | null)[];
  readonly groups: Readonly<Record<string, string | null>>;
}

export interface PatternSearch {
  /** RE2 syntax, at most 256 characters. */
  readonly pattern: string;
  /** `i`, `m` and `s` as in JavaScript. */
  readonly flags: string;
  readonly text: string;
  /** Index of the first UTF-16 code unit at which a match may begin. The text before it is context. */
  readonly from: number;
}

/** UTF-16 code units. */
export interface PatternSpan {
  readonly start: number;
  readonly end: number;
}

export interface PatternReach {
  /** UTF-16 code units of the shortest and the longest match; `most` is null if there is no bound. */
  readonly least: number;
  readonly most: number | null;
  /** Instructions of the compiled pattern. */
  readonly instructions: number;
}

export interface SchemaInput {
  readonly schema: Readonly<Record<string, unknown>>;
  /** The value as JSON text; null: the schema is compiled only. */
  readonly json: string | null;
}

export interface SchemaError {
  /** JSON pointer. */
  readonly path: string;
  readonly message: string;
}

export interface ToolValueVerdict {
  /** The reason why the value cannot be checked, such as an invalid schema; null: it was checked. */
  readonly problem: string | null;
  /** The first errors, each with its JSON pointer. Empty: the value matches. */
  readonly errors: readonly string[];
}

export type TaskName = keyof WorkerTasks;

/** Runs tasks: small inputs at once on the calling thread, others in a worker thread. */
export interface TaskRunner {
  /**
   * Throws or rejects with GatewayError: `overloaded` if the queue is full or the task has waited too long, `internal` if it fails, takes
   * too long or its thread ends.
   */
  run<Name extends TaskName>(
    name: Name,
    input: WorkerTasks[Name]['input'],
    options?: TaskOptions,
  ): Maybe<WorkerTasks[Name]['output']>;
}

export interface TaskOptions {
  /** Replaces WORKER_TASK_TIMEOUT. */
  readonly timeoutMs?: number | undefined;
  /** Id of the workspace that the task is for. Workspaces take turns. Absent: those without one are together one of them. */
  readonly owner?: string | undefined;
}
