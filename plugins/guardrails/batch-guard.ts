import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { Denial } from '../../core/contract/plugin/plugin.ts';
import type { BatchLine, ChangedLine, CheckBatchLine } from '../../core/contract/plugin/requests/batch-line.ts';
import type { Clock } from '../../core/contract/values/time/clock.ts';
import type { Guardrail } from './compile.ts';
import { denialOf, type HookResults, isDenied, mayDeny } from './hook-results.ts';
import { type GuardrailResult, runGuardrails, unreadable } from './run.ts';

export interface BatchGuardOptions {
  readonly input: readonly Guardrail[];
  readonly output: readonly Guardrail[];
  readonly clock: Clock;
  /** Called with results that differ from those of earlier lines: the first passed and the first failed one of each guardrail. */
  record(results: readonly GuardrailResult[]): void;
  /** Called when the batch is denied. */
  onDenial(): void;
}

/**
 * Checks the lines of a batch that a provider runs. A denied line rejects the batch, because the provider reads its own copy of the lines.
 * The results of such a batch do not pass the gateway line by line, so a guardrail of responses that denies rejects it too.
 */
export class BatchGuard {
  readonly #options: BatchGuardOptions;
  readonly #first: readonly Guardrail[];
  readonly #later: readonly Guardrail[];
  /** The result of each guardrail so far: the first failed one, or the first one. */
  readonly #results = new Map<Guardrail, GuardrailResult>();

  constructor(options: BatchGuardOptions) {
    this.#options = options;
    this.#first = options.input.filter(({ async }) => !async);
    this.#later = options.input.filter(({ async }) => async);
  }

  /** Results for the reply. */
  get results(): readonly GuardrailResult[] {
    return [...this.#results.values()].filter(({ guardrail }) => !guardrail.async);
  }

  /** Returns the check of the lines; null if no guardrail reads them. */
  check(ctx: RequestContext): CheckBatchLine | null {
    const { input, output, clock, record } = this.#options;
    const denying = output.filter((guardrail) => mayDeny(guardrail) && !guardrail.async);
    if (input.length === 0 && denying.length === 0) return null;
    const ofOutput = unreadable(denying, 'The results of a batch that its provider runs are not checked', clock);
    if (ofOutput.some(isDenied)) {
      record(ofOutput);
      return () => this.#denial(ctx, { before: [], after: ofOutput });
    }
    return (line) => this.#checkLine(ctx, line);
  }

  async #checkLine(ctx: RequestContext, { operation, body, isFixed }: BatchLine): Promise<Denial | ChangedLine | undefined> {
    const { clock } = this.#options;
    const model = typeof body.model === 'string' ? body.model : ctx.model;
    const facts = { operation, requestType: operation ?? 'createBatch', model, isReadable: true, isFixed };
    // Nothing else limits the number of lines whose asynchronous guardrails run.
    this.#note((await runGuardrails(this.#later, ctx, body, clock, facts)).results);
    const { results, body: changed } = await runGuardrails(this.#first, ctx, body, clock, facts);
    this.#note(results);
    if (results.some(isDenied)) return this.#denial(ctx, { before: results, after: [] });
    return changed === body ? undefined : { action: 'change', body: changed };
  }

  #denial(ctx: RequestContext, results: HookResults): Denial {
    this.#options.onDenial();
    return { action: 'deny', reply: denialOf(results, ctx) };
  }

  #note(results: readonly GuardrailResult[]): void {
    const news = results.filter(({ guardrail, verdict }) => {
      const known = this.#results.get(guardrail);
      return known === undefined || (known.verdict && !verdict);
    });
    for (const result of news) this.#results.set(result.guardrail, result);
    if (news.length > 0) this.#options.record(news);
  }
}
