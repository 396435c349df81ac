import { expect, it } from 'vitest';
import { payloadStream } from '../../../../core/providers/sagemaker/payload-stream.ts';
import { frame } from '../bedrock/frames.ts';

const values = JSON.stringify({ message: 'No GPU', values: Array.from({ length: 500_000 }, () => ({})) });

it('a line of a stream with too many values is not parsed', () => {
  const part = { ':event-type': 'PayloadPart', ':message-type': 'event' };
  const line = frame(part, `data: ${values}\n`);
  expect(() => payloadStream.create().push(line)).toThrow('sagemaker error: a line of the stream has too many values');
});

it('an exception with too many values has the code of its header only', () => {
  const exception = frame({ ':exception-type': 'ModelStreamError', ':message-type': 'exception' }, values);
  expect(payloadStream.create().push(exception)).toMatchObject([
    { event: 'error', data: { error: { type: 'ModelStreamError' } } },
  ]);
  expect(JSON.stringify(payloadStream.create().push(exception))).not.toContain('No GPU');
});
