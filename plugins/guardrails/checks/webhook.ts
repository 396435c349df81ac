import * as v from 'valibot';
import { guardrailSides } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';
import { isObject, type JsonObject, parseObject } from '../../../core/contract/values/json/json.ts';
import { CallError, callFailed, callService } from './call-service.ts';
import { type Check, type CheckServices, defineCheck, type Outcome, type Subject } from './check.ts';
import { eventOf, headersOf } from './event.ts';
import { forwardHeaders, headers, refuseOwnHeaders, serviceUrl } from './outgoing-headers.ts';

const parameters = v.strictObject({
  webhookURL: serviceUrl,
  headers,
  timeout: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000)), 3000),
  forwardHeaders,
  /** Accepted for configs of the reference product. All guardrails run on pass-through requests, whatever it is. */
  executeOnProxy: v.optional(v.boolean()),
});
type Parameters = v.InferOutput<typeof parameters>;

/**
 * `default.webhook`: another service gives the verdict. It receives the event as JSON and replies `{ "verdict": boolean, "data"?,
 * "transformedData"?: { "request" | "response": { "json" } } }`. The transformed JSON replaces the whole body.
 */
export const webhook: Check = defineCheck({
  id: 'default.webhook',
  sides: guardrailSides,
  changes: true,
  parameters,
  prepare(given, services) {
    refuseOwnHeaders(given, services);
    return (subject) => ask(given, services, subject);
  },
});

async function ask(given: Parameters, services: CheckServices, subject: Subject): Promise<Outcome> {
  const { webhookURL: url, headers, timeout, forwardHeaders } = given;
  const context = { webhookUrl: url, requestContext: { timeout } };
  let responseData: JsonObject = {};
  try {
    const event = await eventOf(subject, services);
    const call = { url, headers: headersOf(subject, headers, forwardHeaders), body: event, timeoutMs: timeout };
    const { status, body } = await callService(services, call);
    const reply = parseObject(body);
    if (status < 200 || status > 299) {
      if (reply !== null) responseData = { responseData: reply };
      throw new CallError('HttpError', `HTTP error! status: ${status}`);
    }
    if (reply === null) throw new CallError('Error', 'the reply is not a JSON object');
    // Everything but true is a failed verdict: "false" as text must not pass.
    const verdict = reply.verdict === true;
    const explanation = verdict ? 'Webhook request succeeded' : 'Webhook request failed';
    const data = {
      verdict,
      explanation,
      webhookUrl: url,
      ...(reply.data === undefined ? {} : { responseData: reply.data }),
      requestContext: { timeout },
    };
    const changed = changedBody(reply, subject);
    return changed === null ? { verdict, data } : { verdict, data, body: changed };
  } catch (thrown) {
    const message = thrown instanceof CallError ? thrown.message : 'the check failed';
    return callFailed(thrown, { explanation: `Webhook error: ${message}`, ...context, ...responseData });
  }
}

/** The body that the service put instead of this one; null if it left it alone. Whether the reply streams cannot be changed. */
function changedBody({ transformedData }: JsonObject, { side, body }: Subject): JsonObject | null {
  const part = isObject(transformedData) ? transformedData[side === 'output' ? 'response' : 'request'] : null;
  if (!isObject(part) || !isObject(part.json)) return null;
  if (side === 'output') return part.json;
  const { stream: _stream, ...rest } = part.json;
  return body.stream === undefined ? rest : { ...rest, stream: body.stream };
}
