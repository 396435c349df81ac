import { expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import { cohere } from '../../../../core/providers/cohere/index.ts';
import { callOf } from '../contract-suite.ts';

const operation = cohere.operations.createTranscription as Operation;
const form = [{ name: 'file', filename: 'a.wav', contentType: 'audio/wav', base64: 'UklGRg==' }];

it('cohere: a transcript is written in the format that the client asks for', () => {
  const call = callOf({ model: 'm', language: 'en', response_format: 'text' }, { form }, {});
  const written = operation.toBytes?.({ text: 'Good morning' }, call);
  expect([written?.contentType, String(written?.body)]).toEqual(['text/plain; charset=utf-8', 'Good morning\n']);
  expect(operation.toBytes?.({ text: 'Good morning' }, callOf({ model: 'm', language: 'en' }, { form }, {}))).toBeNull();
});

it('cohere: a streamed transcription is refused with the name of the field', () => {
  const call = callOf({ model: 'm', language: 'en', stream: true }, { form }, {});
  expect(() => operation.toContent?.(call.params, call)).toThrow(expect.objectContaining({ param: 'stream' }));
});
