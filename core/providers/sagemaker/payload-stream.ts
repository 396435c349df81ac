import { type AwsFrame, awsEventStreamType, createAwsFrameReader } from '../../cloud-auth/aws-event-frames.ts';
import type { StreamDecoder, StreamDecoding, StreamEvent } from '../../contract/provider/stream-event.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { parseObject } from '../../contract/values/json/json.ts';
import { hasTooManyValues, tooManyValues } from '../../contract/values/json/line-limits.ts';

/**
 * Decodes the frames of InvokeEndpointWithResponseStream. The joined bytes of its `PayloadPart` events are the container's own
 * stream: either server-sent events or one JSON object per line.
 */
export const payloadStream: StreamDecoding = { contentType: awsEventStreamType, create: createDecoder };

/** Maximum line length. It limits the memory that a container can fill by never ending a line. */
const lineLengthMax = 32 * 1024 * 1024;

/** Unfinished lines up to this length are not reported to `onGrow`. */
const ordinaryLength = 64 * 1024;

function createDecoder(onGrow: (length: number) => void = () => {}): StreamDecoder {
  const frames = createAwsFrameReader('sagemaker', onGrow);
  const text = new TextDecoder('utf-8');
  /** The unfinished line. It is searched only once. */
  let rest = '';
  let longest = ordinaryLength;
  const readLines = (more: string): StreamEvent[] => {
    const lines = more.split('\n');
    lines[0] = rest + lines[0];
    rest = lines.pop() as string;
    if (rest.length > lineLengthMax) {
      throw new GatewayError('upstream_invalid', { message: 'sagemaker error: a line of the stream has no end' });
    }
    if (rest.length > longest) {
      onGrow(rest.length - longest);
      longest = rest.length;
    }
    return lines.flatMap((line) => eventOfLine(line) ?? []);
  };
  return {
    push: (chunk) =>
      frames.push(chunk).flatMap((frame) => {
        const error = errorOfFrame(frame);
        return error ? [error] : readLines(text.decode(frame.payload, { stream: true }));
      }),
    end() {
      frames.end();
      return readLines(`${text.decode()}\n`);
    },
  };
}

/**
 * Returns an exception of the service as an event named by its type, which the stream reader converts to an error. Null for a
 * part of the payload.
 */
function errorOfFrame({ headers, payload }: AwsFrame): StreamEvent | null {
  const type = headers.get(':message-type');
  if (type === 'event') return null;
  const text = payload.toString('utf8');
  const parsed = hasTooManyValues(text) ? null : parseObject(text);
  const { Message: upper, message = upper, ErrorCode: code = headers.get(':exception-type') } = parsed ?? {};
  return { event: 'error', data: { error: { message: message ?? headers.get(':error-message'), type: code } } };
}

/** `data: {…}`, or bare JSON. Other event fields and comments are ignored. */
function eventOfLine(line: string): StreamEvent | null {
  const data = line.startsWith('data:') ? line.slice(5).trim() : line.trim();
  if (hasTooManyValues(data))
    throw new GatewayError('upstream_invalid', { message: `sagemaker error: a line of the stream has ${tooManyValues}` });
  const value = data.startsWith('{') ? parseObject(data) : null;
  if (value) return { event: null, data: value };
  return data === '[DONE]' ? { event: null, data } : null;
}
