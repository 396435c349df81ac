import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { ToolSide } from '../../core/contract/plugin/guardrails/tool-guard.ts';
import { isUpload } from '../../core/contract/plugin/requests/uploads.ts';
import type { OperationName } from '../../core/contract/provider/provider.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { after, all, isPromise, type Maybe } from '../../core/contract/values/maybe.ts';
import type { Clock } from '../../core/contract/values/time/clock.ts';
import { addressTexts } from './address-texts.ts';
import { BlockedAddress } from './checks/call-service.ts';
import type { Outcome, Side, Subject } from './checks/check.ts';
import type { Guardrail, PreparedCheck } from './compile.ts';
import type { TextPart } from './every-text.ts';
import { describes, hasText, hasTokenIds, isPassed, type Scope, textParts } from './texts.ts';
import { toolTexts } from './tool-texts.ts';
import { whyUnread } from './upload-texts.ts';

/** The result of one guardrail. */
export interface GuardrailResult {
  readonly guardrail: Guardrail;
  readonly verdict: boolean;
  readonly checks: readonly CheckResult[];
  readonly durationMs: number;
  readonly createdAtMs: number;
}

export interface CheckResult extends Outcome {
  readonly id: string;
  /** True if an error of the check counts as failed. */
  readonly failOnError: boolean;
  /** True if the check passed, or could not decide and errors count as passed. */
  readonly passed: boolean;
  /** True: the text could not be redacted, so the guardrail denies. */
  readonly stops: boolean;
  readonly durationMs: number;
  readonly createdAtMs: number;
}

export interface SideResult {
  /** Synchronous guardrails, in the order of the config. */
  readonly results: readonly GuardrailResult[];
  /** The body after all changes; the given one if nothing was changed. */
  readonly body: JsonObject;
}

/** The part of a request that a body belongs to. */
export interface BodyFacts {
  /** Null: the form of the body is unknown, so that every text of it is read. */
  readonly operation: OperationName | null;
  /** Function name of the route: an operation, `proxy` or `realtime`. */
  readonly requestType: string;
  readonly model: string | null;
  /** False: the body has no text for checks. */
  readonly isReadable: boolean;
  /** True: checks cannot change the body. */
  readonly isFixed: boolean;
  /** Texts beside the body: those in the address. */
  readonly address?: readonly TextPart[];
  /** Texts of the files in a form that is no upload. */
  readonly files?: readonly TextPart[];
  /** True: the texts are those of an uploaded file, a fine-tuning job or a stored resource, which are no message whose form a check could demand. */
  readonly isNoMessage?: true;
  /** Set if the body belongs to a call of an MCP tool. */
  readonly tool?: ToolSide;
}

/** Returns the facts about the body of a request or of its reply. `files`: the texts of files in its form. */
export function factsOf(ctx: RequestContext, side: Side, files?: readonly TextPart[]): BodyFacts {
  const operation = ctx.endpoint?.operation ?? null;
  const isStart = side === 'start';
  if (side === 'input' && isUpload(ctx)) return uploadFacts(ctx);
  return {
    operation,
    requestType: ctx.endpoint?.name ?? '',
    model: isStart ? null : ctx.model,
    isReadable: isStart || hasText(ctx, side),
    isFixed: isStart || operation === null,
    ...(side === 'input' && (ctx.query !== '' || isPassed(ctx)) ? { address: addressTexts(ctx) } : {}),
    ...(files === undefined ? {} : { files }),
    ...(side === 'input' && (operation === 'createFinetune' || describes(ctx)) ? { isNoMessage: true as const } : {}),
  };
}

/** A file has no parts that a check could replace. */
function uploadFacts({ endpoint, model }: RequestContext): BodyFacts {
  return {
    operation: 'uploadFile',
    requestType: endpoint?.name ?? '',
    model,
    isReadable: true,
    isFixed: true,
    isNoMessage: true,
  };
}

/**
 * Runs the synchronous guardrails of one side on a body. All start at once. Checks that can change the body run one after the other, so that
 * no replacement undoes another one; all other checks judge the body as it came. A body of null cannot be read: checks that read text cannot
 * run. `facts` differs from that of the request if the body is a part of it. Never throws or rejects.
 */
export function runGuardrails(
  guardrails: readonly Guardrail[],
  ctx: RequestContext,
  given: JsonObject | null,
  clock: Clock,
  facts: BodyFacts = factsOf(ctx, guardrails[0]?.side ?? 'input'),
): Maybe<SideResult> {
  const body = given ?? {};
  const isInput = guardrails[0]?.side === 'input' && !facts.tool && !facts.isNoMessage;
  const isUnread = given === null || (isInput && (isStreamedForm(ctx) || hasTokenIds(facts.operation, given)));
  let chain: Maybe<JsonObject> = body;
  // Most configs have one scope.
  const subjects: ReadSubject[] = [];
  const subjectOf = (check: PreparedCheck, side: Side): ReadSubject => {
    const read = factsFor(check, facts);
    for (const known of subjects)
      if (known.scope === check.scope && known.address === read.address && known.files === read.files) return known;
    const subject = toSubject(ctx, side, body, check.scope, read);
    subjects.push(subject);
    return subject;
  };
  const run = (check: PreparedCheck, guardrail: Guardrail): Maybe<CheckResult> => {
    if (isUnread && !check.readsNoText)
      return cannotRun(check, guardrail, facts.operation === 'uploadFile' ? whyUnread(ctx) : unreadText, clock);
    if (!check.isChained) return runCheck(check, guardrail, subjectOf(check, guardrail.side), facts, clock);
    const result = after(chain, (current) =>
      runCheck(check, guardrail, toSubject(ctx, guardrail.side, current, check.scope, factsFor(check, facts)), facts, clock),
    );
    chain = after(chain, (current) => after(result, (done) => done.body ?? current));
    return result;
  };
  const pending = guardrails.map((guardrail): Maybe<GuardrailResult> => {
    const running: Maybe<CheckResult>[] = [];
    for (const check of guardrail.checks) if (isJudged(check, facts)) running.push(run(check, guardrail));
    const checks = all(running);
    return isPromise(checks)
      ? checks.then((done) => conclusionOf(guardrail, done, clock))
      : conclusionOf(guardrail, checks, clock);
  });
  return after(all(pending), (results) => after(chain, (changed) => ({ results, body: changed })));
}

/**
 * Files, and on a typed route texts in the address, are not part of the message whose form a check demands: they can neither meet nor miss it.
 */
function factsFor({ demandsForm }: PreparedCheck, facts: BodyFacts): BodyFacts {
  const { operation, address, files } = facts;
  if (!demandsForm || (address === undefined && files === undefined)) return facts;
  return { ...facts, address: operation === null ? address : undefined, files: undefined };
}

function isJudged({ readsNoText, demandsForm }: PreparedCheck, { isReadable, isNoMessage }: BodyFacts): boolean {
  return readsNoText || (isReadable && !(isNoMessage && demandsForm));
}

/** Returns true for a form that is too large to be stored: fields may follow those that are known. */
function isStreamedForm({ streamedForm, peekedBody, passedParams }: RequestContext): boolean {
  return streamedForm !== null || (peekedBody !== null && passedParams !== null);
}

/** Subject of the checks of one scope. */
interface ReadSubject extends Subject {
  readonly scope: Scope;
  /** True: the body is nested too deeply, so that it has no texts here. */
  readonly isUnread: boolean;
  readonly address: readonly TextPart[] | undefined;
  readonly files: readonly TextPart[] | undefined;
}

/** Checks of a guardrail begin together, so it takes as long as the slowest; those in a chain also wait for the ones before. */
function conclusionOf(guardrail: Guardrail, checks: readonly CheckResult[], clock: Clock): GuardrailResult {
  let verdict = true;
  let durationMs = 0;
  for (const check of checks) {
    if (!check.passed) verdict = false;
    durationMs = Math.max(durationMs, check.durationMs);
  }
  return { guardrail, verdict, checks, durationMs, createdAtMs: clock.now() };
}

function toSubject(
  ctx: RequestContext,
  side: Side,
  body: JsonObject,
  scope: Scope,
  { operation, requestType, model, address, files, tool }: BodyFacts,
): ReadSubject {
  let inBody: readonly TextPart[] | null = [];
  // A call with a body that cannot be read is refused by the caller.
  if (tool) inBody = toolTexts(body, tool);
  else if (side !== 'start') inBody = textPartsOrNull(operation, side, body, scope);
  const isUnread = inBody === null;
  inBody ??= [];
  const parts = address === undefined && files === undefined ? inBody : [...(address ?? []), ...(files ?? []), ...inBody];
  const texts = tool ? parts.filter(({ kind }) => kind === undefined) : parts;
  return {
    scope,
    isUnread,
    address,
    files,
    ctx,
    side,
    body,
    operation,
    requestType,
    model,
    metadata: ctx.metadata,
    parts,
    text: texts.length === 1 ? (texts[0] as TextPart).text : texts.map(({ text }) => text).join('\n'),
  };
}

function textPartsOrNull(...given: Parameters<typeof textParts>): readonly TextPart[] | null {
  try {
    return textParts(...given);
  } catch {
    return null;
  }
}

const unreadText = 'The body cannot be read';

/**
 * A check that cannot decide (there is no text) counts as passed unless `failOnError` is set. A check that could not run at all (no worker
 * thread, an exception) counts as failed in a guardrail that denies, unless `failOnError` is false. Every error of a check that redacts
 * stops the request, unless `failOnError` is false.
 */
function runCheck(
  check: PreparedCheck,
  guardrail: Guardrail,
  subject: ReadSubject,
  { isFixed }: BodyFacts,
  clock: Clock,
): Maybe<CheckResult> {
  if (subject.isUnread && !check.readsNoText) return cannotRun(check, guardrail, unreadText, clock);
  // `clock` is read once per turn of the event loop: a synchronous check would take no time.
  const beganMs = performance.now();
  const decided = (outcome: Outcome): CheckResult => {
    if (outcome.body === undefined) return conclude(check, outcome, check.failOnError ?? check.redacts, beganMs, clock);
    if (isFixed) return cannotRun(check, guardrail, whyFixed(subject), clock);
    return conclude(check, outcome, check.failOnError ?? false, beganMs, clock);
  };
  const broken = (thrown: unknown): CheckResult => cannotRun(check, guardrail, reasonOf(thrown), clock, beganMs);
  try {
    const outcome = check.run(subject);
    return isPromise(outcome) ? outcome.then(decided, broken) : decided(outcome);
  } catch (thrown) {
    return broken(thrown);
  }
}

function whyFixed({ side, operation }: Subject): string {
  if (side === 'start') return 'Start hooks cannot change the body';
  if (operation === 'uploadFile') return 'Uploaded files cannot be changed';
  return operation === null ? 'Pass-through bodies cannot be changed' : 'The provider reads the line from its own file';
}

/** Returns the results of guardrails whose text cannot be read. */
export function unreadable(guardrails: readonly Guardrail[], message: string, clock: Clock): readonly GuardrailResult[] {
  return guardrails.map((guardrail) => {
    const checks = guardrail.checks.map((check) => cannotRun(check, guardrail, message, clock));
    return conclusionOf(guardrail, checks, clock);
  });
}

function cannotRun(
  check: PreparedCheck,
  { deny }: Guardrail,
  message: string,
  clock: Clock,
  beganMs = performance.now(),
): CheckResult {
  const outcome = { verdict: false, data: null, error: { name: 'Check error', message } };
  return conclude(check, outcome, check.failOnError ?? (deny || check.redacts), beganMs, clock);
}

function conclude(
  { id, redacts }: PreparedCheck,
  outcome: Outcome,
  failOnError: boolean,
  beganMs: number,
  clock: Clock,
): CheckResult {
  const { verdict, data, error, body } = outcome;
  const passed = error === undefined ? verdict : !failOnError;
  return {
    id,
    verdict,
    data,
    error,
    body,
    failOnError,
    passed,
    stops: redacts && error !== undefined && !passed,
    durationMs: performance.now() - beganMs,
    createdAtMs: clock.now(),
  };
}

function reasonOf(thrown: unknown): string {
  if (thrown instanceof BlockedAddress) return thrown.message;
  const isOverloaded = thrown instanceof GatewayError && thrown.code === 'overloaded';
  return isOverloaded ? 'The check did not run because the gateway is overloaded' : 'Error executing check';
}
