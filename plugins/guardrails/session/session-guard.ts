import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import { sessionErrorEvent } from '../../../core/contract/plugin/sessions/error-event.ts';
import { heldBytesOf, toHeld } from '../../../core/contract/plugin/sessions/held-messages.ts';
import type { SessionDecision, SessionMessage } from '../../../core/contract/plugin/sessions/web-socket.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { hasDuplicateKeys } from '../../../core/contract/values/json/duplicate-keys.ts';
import { isObject, type JsonObject, parseObject } from '../../../core/contract/values/json/json.ts';
import { after, isPromise, type Maybe } from '../../../core/contract/values/maybe.ts';
import { modelsIn } from '../../../core/contract/values/models/nested-models.ts';
import type { Clock } from '../../../core/contract/values/time/clock.ts';
import type { Guardrail, PreparedCheck } from '../compile.ts';
import { denialText, deniedResults, isDenied, mayDeny } from '../hook-results.ts';
import { type GuardrailResult, runGuardrails } from '../run.ts';
import { ResponseTexts } from './response-texts.ts';
import { contentOfClient, contentOfProvider, type MessageContent, transcriptOf } from './session-texts.ts';

export interface SessionGuardOptions {
  readonly input: readonly Guardrail[];
  readonly output: readonly Guardrail[];
  readonly clock: Clock;
  record(results: readonly GuardrailResult[]): void;
}

/** Maximum memory of one response that is held for its verdict. A longer one is denied. */
const heldBytesMax = 8 * 1024 * 1024;

/**
 * Checks the messages of one realtime session. A message of the client that is denied does not reach the provider, and the client receives an
 * error event. A response that is denied does not reach the client: its events are held until its `response.done`, then the session ends.
 */
export class SessionGuard {
  readonly #options: SessionGuardOptions;
  readonly #input: Lists;
  /** Guardrails with the checks that judge models. */
  readonly #ofModels: Lists;
  readonly #output: Lists;
  /** Guardrails of responses that also judge errors. */
  readonly #ofErrors: Lists;
  #held: SessionMessage[] = [];
  #heldBytes = 0;
  /** Ids of responses whose events are held. */
  readonly #open = new Set<string>();
  readonly #texts = new ResponseTexts();

  constructor(options: SessionGuardOptions) {
    this.#options = options;
    this.#input = listsOf(options.input, ({ readsNoText }) => !readsNoText);
    this.#ofModels = listsOf(options.input, ({ readsModels }) => readsModels);
    // Guardrails that only observe do not hold the response.
    this.#output = listsOf(
      options.output,
      ({ readsNoText }) => !readsNoText,
      ({ stream }) => stream !== 'observe',
    );
    this.#ofErrors = listsOf(options.output.filter(mayDeny), ({ readsNoText, demandsForm }) => !readsNoText && !demandsForm);
  }

  check(ctx: RequestContext, message: SessionMessage): Maybe<SessionDecision | undefined> {
    const event = message.isBinary ? null : parsedEvent(message.data);
    const unique = event === null ? message : withUniqueNames(message, event);
    const decided = message.isFromClient ? this.#checkClient(ctx, event) : this.#checkProvider(ctx, unique, event);
    return unique === message ? decided : after(decided, (decision) => decision ?? { forward: [unique] });
  }

  #checkClient(ctx: RequestContext, event: JsonObject | null): Maybe<SessionDecision | undefined> {
    const content = event === null ? 'unreadable' : contentOfClient(event);
    const judged = after(this.#judgeModels(ctx, event), (denied) => denied ?? this.#judge(ctx, this.#input, content));
    return after(judged, (denied) =>
      denied === null ? undefined : { forward: [], toClient: errorEvent(denied, event, 'before') },
    );
  }

  /** Runs the checks of models if the event names one. Returns the results of a denial; null if it passes. */
  #judgeModels(ctx: RequestContext, event: JsonObject | null): Maybe<readonly GuardrailResult[] | null> {
    const { first, later } = this.#ofModels;
    if (event === null || first.length + later.length === 0 || modelsIn(event).length === 0) return null;
    return this.#run(ctx, this.#ofModels, event);
  }

  #checkProvider(ctx: RequestContext, message: SessionMessage, event: JsonObject | null): Maybe<SessionDecision | undefined> {
    const spoken = event === null ? null : transcriptOf(event);
    // The model has heard it already, so a denial ends the session.
    if (spoken !== null) return this.#endIfDenied(this.#judge(ctx, this.#input, { texts: [spoken] }), event, 'before');
    if (event?.type === 'response.done') return this.#endResponse(ctx, message, event);
    if (this.#output.first.length === 0) return undefined;
    // Clients wait for the items that they created or retrieved before they ask for the next response.
    if (this.#held.length === 0 && isItemOfModel(event)) return this.#judgeError(ctx, event);
    if (!isOfResponse(event)) return isOfSession(event) ? undefined : this.#judgeError(ctx, event);
    this.#hold(message, event);
    this.#texts.add(event === null ? null : responseIdOf(event), event);
    return this.#waitOrJudge(ctx, event);
  }

  /** Holds what is held for longer, unless it is too long to be held. */
  #waitOrJudge(ctx: RequestContext, event: JsonObject | null): Maybe<SessionDecision> {
    if (this.#heldBytes <= heldBytesMax) return { forward: [] };
    const judged = this.#endIfDenied(this.#judge(ctx, this.#output, 'unreadable'), event, 'after');
    return after(judged, (decision) => decision ?? { forward: this.#release() });
  }

  /** Errors, items outside of responses, and events of unknown types are sent at once. */
  #judgeError(ctx: RequestContext, event: JsonObject | null): Maybe<SessionDecision | undefined> {
    const content = event === null ? 'nothing' : contentOfProvider(event);
    return this.#endIfDenied(this.#judge(ctx, this.#ofErrors, content), event, 'after');
  }

  #hold(message: SessionMessage, event: JsonObject | null): void {
    const held = toHeld(message);
    this.#held.push(held);
    this.#heldBytes += heldBytesOf(held);
    const id = event === null ? null : responseIdOf(event);
    if (id !== null) this.#open.add(id);
  }

  #release(): readonly SessionMessage[] {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    this.#texts.clear();
    return held;
  }

  #endResponse(ctx: RequestContext, message: SessionMessage, event: JsonObject): Maybe<SessionDecision | undefined> {
    const content = this.#texts.take(responseIdOf(event), event);
    const judged = this.#endIfDenied(this.#judge(ctx, this.#output, content), event, 'after');
    const ended = after(judged, (decision) => decision ?? this.#judgeError(ctx, errorOfResponse(event)));
    return after(ended, (decision) => {
      if (decision || this.#output.first.length === 0) return decision;
      this.#hold(message, event);
      this.#open.delete(responseIdOf(event) ?? '');
      // Responses can run side by side. Their events leave when the last of them has passed.
      return this.#open.size === 0 ? { forward: this.#release() } : this.#waitOrJudge(ctx, event);
    });
  }

  #endIfDenied(
    judged: Maybe<readonly GuardrailResult[] | null>,
    event: JsonObject | null,
    side: 'before' | 'after',
  ): Maybe<SessionDecision | undefined> {
    return after(judged, (denied) =>
      denied === null ? undefined : { forward: [], toClient: errorEvent(denied, event, side), error: denialOf(denied) },
    );
  }

  /** Returns the results of a denial; null if the content passes. */
  #judge(ctx: RequestContext, lists: Lists, content: MessageContent): Maybe<readonly GuardrailResult[] | null> {
    if (content === 'nothing') return null;
    const { clock, record } = this.#options;
    if (content === 'unreadable') {
      // Only a guardrail that may deny has something to decide: the others would note every piece of audio.
      const denying = lists.first.filter(mayDeny);
      if (denying.length === 0) return null;
      return after(runGuardrails(denying, ctx, null, clock), ({ results }) => {
        if (!results.some(isDenied)) return null;
        record(results);
        return results;
      });
    }
    return this.#run(ctx, lists, { texts: content.texts });
  }

  /** Runs guardrails on a body. Returns the results of a denial; null if it passes. */
  #run(ctx: RequestContext, { first, later }: Lists, body: JsonObject): Maybe<readonly GuardrailResult[] | null> {
    const { clock, record } = this.#options;
    if (later.length > 0) {
      const noted = runGuardrails(later, ctx, body, clock);
      if (isPromise(noted)) void noted.then(({ results }) => record(results));
      else record(noted.results);
    }
    if (first.length === 0) return null;
    return after(runGuardrails(first, ctx, body, clock), ({ results }) => {
      record(results);
      return results.some(isDenied) ? results : null;
    });
  }
}

interface Lists {
  readonly first: readonly Guardrail[];
  readonly later: readonly Guardrail[];
}

/** Returns guardrails with these checks. Checks without text ran when the session began. */
function listsOf(
  guardrails: readonly Guardrail[],
  isMeant: (check: PreparedCheck) => boolean,
  isFirst: (guardrail: Guardrail) => boolean = () => true,
): Lists {
  const reading = guardrails
    .map((guardrail) => ({ ...guardrail, checks: guardrail.checks.filter(isMeant) }))
    .filter(({ checks }) => checks.length > 0);
  const waits = (guardrail: Guardrail) => !guardrail.async && isFirst(guardrail);
  return { first: reading.filter(waits), later: reading.filter((guardrail) => !waits(guardrail)) };
}

/** Returns true for events with texts or audio of a response that is being produced, and for messages that are not events. */
function isOfResponse(event: JsonObject | null): boolean {
  if (event === null) return true;
  return String(event.type).startsWith('response.') || isItemOfModel(event);
}

/** Returns true for events of an item that the model may have written. Other items repeat what the client sent. */
function isItemOfModel(event: JsonObject | null): boolean {
  if (event === null || !String(event.type).startsWith('conversation.item.') || !isObject(event.item)) return false;
  const { role, type } = event.item;
  return role !== 'user' && role !== 'system' && type !== 'function_call_output' && type !== 'mcp_approval_response';
}

/** Returns true for events of the session itself and of what the user said. They repeat what the client sent. */
function isOfSession(event: JsonObject | null): boolean {
  return /^(?:session|transcription_session|conversation|input_audio_buffer|output_audio_buffer|rate_limits)\./.test(
    String(event?.type),
  );
}

function errorOfResponse({ response }: JsonObject): JsonObject | null {
  return isObject(response) && isObject(response.status_details) ? { error: response.status_details.error } : null;
}

/** Returns the message with each name once if an object of it has a name twice: another reader might read the first value. */
function withUniqueNames(message: SessionMessage, event: JsonObject): SessionMessage {
  if (!hasDuplicateKeys(textOfMessage(message.data), event)) return message;
  return { ...message, data: Buffer.from(JSON.stringify(event)) };
}

function responseIdOf({ response_id, response }: JsonObject): string | null {
  const id = response_id ?? (isObject(response) ? response.id : null);
  return typeof id === 'string' ? id : null;
}

function parsedEvent(data: Uint8Array): JsonObject | null {
  return parseObject(textOfMessage(data));
}

function textOfMessage(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString();
}

function denialOf(denied: readonly GuardrailResult[]): GatewayError {
  return new GatewayError('request_denied', { message: denialText(denied) });
}

function errorEvent(denied: readonly GuardrailResult[], event: JsonObject | null, side: 'before' | 'after'): Uint8Array {
  const error = { type: 'hooks_failed', code: 'hooks_failed', message: denialText(denied), param: null };
  const results = deniedResults({ before: side === 'before' ? denied : [], after: side === 'after' ? denied : [] });
  const id = `event_${denied[0]?.createdAtMs ?? 0}`;
  return sessionErrorEvent(id, error, side === 'before' ? event : null, { hook_results: JSON.parse(results) });
}
