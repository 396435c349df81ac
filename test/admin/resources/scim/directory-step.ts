/** One request of a directory and what it expects. `{{name}}` stands for a saved value. */
export interface Step {
  readonly what: string;
  readonly send: readonly [method: string, path: string, body?: unknown];
  readonly status: number;
  /** Part of the reply. */
  readonly reply?: unknown;
  /** Saves fields of the reply, as `id` or `Resources[0].id`. */
  readonly save?: Readonly<Record<string, string>>;
  readonly withToken?: string;
}
