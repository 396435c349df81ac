import type { Operation, OperationCall } from '../../../contract/provider/provider.ts';
import type { StreamEvent, StreamReader, StreamTranslator } from '../../../contract/provider/stream-event.ts';
import type { GatewayError } from '../../../contract/values/errors/errors.ts';
import { messagesErrorType } from '../../../contract/values/errors/messages-errors.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { withOwnReasoning } from '../../../formats/anthropic/own-reasoning.ts';
import { withoutThread } from '../../../formats/anthropic/threads.ts';
import { messagesStreamReader, usageOfReply } from '../../../formats/anthropic/usage.ts';
import { eventError } from '../errors.ts';
import { eventStream } from '../event-stream.ts';
import { modelSegment } from '../model-id.ts';
import { betasOf } from './beta-features.ts';

/** The only version of the Messages API that InvokeModel supports. */
const bedrockVersion = 'bedrock-2023-05-31';

/** A Messages call to a Claude model in its own format. InvokeModel wraps requests, replies and events without changing them. */
export const claudeMessages: Operation = {
  path: (call) => `/model/${modelSegment(call.model)}/${call.stream ? 'invoke-with-response-stream' : 'invoke'}`,
  toProvider: claudeBody,
  translateStream: claudeStream,
  decodeStream: eventStream,
  usage: usageOfReply,
  streamReader: claudeStreamReader,
};

/** Builds the body of InvokeModel: the caller's, without the fields of the path, with the beta features of the settings. */
export function claudeBody(params: JsonObject, call: OperationCall): JsonObject {
  const { model: _model, stream: _stream, ...body } = withoutThread(withOwnReasoning(params, call), call);
  const betas = betasOf(call);
  return {
    anthropic_version: bedrockVersion,
    ...(betas.length > 0 ? { anthropic_beta: betas } : {}),
    ...body,
  };
}

/** Returns the model's events unchanged. An exception of the service becomes an error event of the format. */
function claudeStream(): StreamTranslator {
  let started = false;
  return {
    push(event) {
      const error = eventError(event);
      if (error === null) {
        started = true;
        return [event];
      }
      // Until the first byte is sent, the pipeline can fall back to another target.
      if (!started) return [];
      return [exceptionIn(event) ? errorEvent(error) : event];
    },
    end: () => [],
  };
}

function claudeStreamReader(): StreamReader {
  const reader = messagesStreamReader('bedrock');
  let error: GatewayError | null = null;
  return {
    ...reader,
    push(event) {
      error = exceptionIn(event) ?? error;
      reader.push(event);
    },
    error: () => error ?? reader.error?.() ?? null,
  };
}

/** True for an exception of the service, but not for an error event of the model's own format. */
function exceptionIn(event: StreamEvent): GatewayError | null {
  return isObject(event.data) && event.data.type === 'error' ? null : eventError(event);
}

function errorEvent(error: GatewayError): StreamEvent {
  return { event: 'error', data: { type: 'error', error: { type: messagesErrorType(error.status), message: error.message } } };
}
