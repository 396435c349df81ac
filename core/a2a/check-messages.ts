import type { RequestContext } from '../contract/plugin/context.ts';
import type { AgentServerDocument } from '../contract/protocol/agents/agents.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import { RpcError } from '../json-rpc/messages.ts';
import type { ToolChecks, ToolGuardrails } from '../json-rpc/tool-guardrails.ts';
import { checkedTexts, resultOf } from './checked-texts.ts';
import { joinedTexts } from './message-parts.ts';

/** The guardrails of one call of an agent. */
export interface MessageChecks {
  /** Changes the parts in place. Returns true if one was changed. Throws GatewayError `request_denied`. */
  checkRequest(params: JsonObject): Promise<boolean>;
  /** Null: replies pass unread. The function changes the parts in place, and throws GatewayError `response_denied`. */
  readonly checkReply: ((reply: JsonObject) => Promise<boolean>) | null;
  /**
   * Checks all events of a stream, each by itself and their texts put together. Null as `checkReply`. Changes parts in place, and throws
   * GatewayError `response_denied`, also if a check changes a text that is split over events.
   */
  readonly checkStream: ((events: readonly JsonObject[]) => Promise<boolean>) | null;
}

/** Returns the guardrails of an agent; null: it has none. Throws GatewayError `invalid_config` if one of them does not exist. */
export async function messageChecks(
  guardrails: ToolGuardrails,
  ctx: RequestContext,
  { guardrails: named }: AgentServerDocument,
): Promise<MessageChecks | null> {
  const checks = named.length === 0 ? null : await guardrails.of(ctx, { guardrails: named }, '');
  if (checks === null) return null;
  const { checkResult } = checks;
  return {
    checkRequest: (params) =>
      denying(
        'request_denied',
        checkParts(params, (texts) => checkSent(checks, texts)),
      ),
    checkReply:
      checkResult === null
        ? null
        : (reply) =>
            denying(
              'response_denied',
              checkParts(reply, (content) => checkReceived(checkResult, content)),
            ),
    checkStream: checkResult === null ? null : (events) => denying('response_denied', checkEvents(checkResult, events)),
  };
}

async function checkEvents(check: NonNullable<ToolChecks['checkResult']>, events: readonly JsonObject[]): Promise<boolean> {
  const isChanged = await checkParts(events, (content) => checkReceived(check, content));
  const content = joinedTexts(events.map(resultOf));
  // A stream of data has no texts that clients put together.
  if (content.length === 0) return isChanged;
  if ((await checkReceived(check, content)) === content) return isChanged;
  throw new GatewayError('response_denied', { message: 'A guardrail changes a text that is split over several events' });
}

/** Data of agents has no blocks of content, so all its members are read, with their names and numbers. */
async function checkReceived(check: NonNullable<ToolChecks['checkResult']>, content: readonly unknown[]): Promise<unknown> {
  return (await check(null, { structuredContent: content })).structuredContent;
}

async function checkSent(checks: ToolChecks, content: readonly unknown[]): Promise<unknown> {
  const params = { name: '', arguments: { content } };
  const checked = await checks.checkArguments({ kind: 'request', id: null, method: 'SendMessage', params });
  return (checked.params.arguments as JsonObject).content;
}

/** Runs `check` on the list of all contents of a request, a reply or the events of a stream, and writes its changes back. */
async function checkParts(value: unknown, check: (content: readonly unknown[]) => Promise<unknown>): Promise<boolean> {
  const texts = checkedTexts(value);
  if (texts.length === 0) return false;
  const content = texts.map((text) => text.content);
  const checked = await check(content);
  if (checked === content || !Array.isArray(checked)) return false;
  for (const [index, text] of texts.entries()) if (checked[index] !== content[index]) text.write(checked[index]);
  return true;
}

async function denying<Value>(code: 'request_denied' | 'response_denied', checked: Promise<Value>): Promise<Value> {
  try {
    return await checked;
  } catch (thrown) {
    if (!(thrown instanceof RpcError)) throw new GatewayError(code, { message: messageOf(thrown) });
    throw new GatewayError(code, { message: thrown.message });
  }
}
