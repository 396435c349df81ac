import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { RequestBody } from '../../contract/values/http/http.ts';

/**
 * Returns the body of a form that is streamed although only its first parts are known. It fails with `bad_request` before the provider has a further
 * part: `partsMax` counts the known parts and the file after them.
 */
export function endsWithFile(body: RequestBody, boundary: string, partsMax: number): RequestBody {
  const delimiter = Buffer.from(`--${boundary}`);
  return {
    length: body.length,
    bytes: (maxBytes, onGrow, onChunk) => body.bytes(maxBytes, onGrow, onChunk),
    pipe(to, maxBytes) {
      // The last delimiter ends the form.
      let left = partsMax + 1;
      let tail = Buffer.alloc(0);
      let failed = false;
      const control = body.pipe(
        {
          onData(chunk) {
            if (failed) return true;
            const read = Buffer.concat([tail, chunk]);
            for (let at = read.indexOf(delimiter); at !== -1; at = read.indexOf(delimiter, at + 1)) left--;
            tail = Buffer.from(read.subarray(Math.max(0, read.length - delimiter.length + 1)));
            if (left >= 0) return to.onData(chunk);
            failed = true;
            to.onError(new GatewayError('bad_request', { message, param: 'body' }));
            control.discard();
            return true;
          },
          onEnd: () => (failed ? undefined : to.onEnd()),
          onError: (error) => (failed ? undefined : to.onError(error)),
        },
        maxBytes,
      );
      return control;
    },
  };
}

const message =
  'Guardrails cannot read a form above FORM_BUFFER_MAX. A batch passes if the purpose comes before the file and no part after it';
