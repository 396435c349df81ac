import { type AwsFrame, awsEventStreamType, createAwsFrameReader } from '../../cloud-auth/aws-event-frames.ts';
import type { StreamDecoder, StreamDecoding, StreamEvent } from '../../contract/provider/stream-event.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { hasTooManyValues, tooManyValues } from '../../contract/values/json/line-limits.ts';

/** The service's streams: events and exceptions by name, and events of the models' own formats wrapped in `chunk` events. */
export const eventStream: StreamDecoding = { contentType: awsEventStreamType, create: createDecoder };

function createDecoder(onGrow?: (length: number) => void): StreamDecoder {
  const frames = createAwsFrameReader('bedrock', onGrow);
  return {
    push: (chunk) => frames.push(chunk).flatMap((frame) => eventOf(frame) ?? []),
    end() {
      frames.end();
      return [];
    },
  };
}

function eventOf({ headers, payload }: AwsFrame): StreamEvent | null {
  const text = payload.toString('utf8');
  switch (headers.get(':message-type')) {
    case 'event': {
      const name = headers.get(':event-type') ?? null;
      const data = parse(text);
      return name === 'chunk' && isObject(data) && typeof data.bytes === 'string'
        ? innerEvent(data.bytes)
        : { event: name, data };
    }
    case 'exception':
      return { event: headers.get(':exception-type') ?? 'error', data: errorData(text) };
    case 'error':
      return { event: 'error', data: { message: headers.get(':error-message') ?? headers.get(':error-code') ?? '' } };
    default:
      return null;
  }
}

/** An event of the model's own format, wrapped in base64; it is named by its `type`, as in the maker's own event streams. */
function innerEvent(base64: string): StreamEvent {
  const data = parse(Buffer.from(base64, 'base64').toString('utf8'));
  return { event: isObject(data) && typeof data.type === 'string' ? data.type : null, data };
}

function parse(text: string): JsonObject | string {
  if (hasTooManyValues(text))
    throw new GatewayError('upstream_invalid', { message: `bedrock error: a stream event has ${tooManyValues}` });
  return parseObject(text) ?? text;
}

function errorData(text: string): JsonObject {
  const data = parse(text);
  return typeof data === 'string' ? { message: data } : data;
}
