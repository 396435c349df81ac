import type { HonoRequest } from 'hono';
import { adminBodyBytesMax } from '../../../core/contract/protocol/control-plane-calls/body-limit.ts';
import { invalid } from '../errors.ts';
import { readBytes } from './read-body.ts';

/** Returns the fields of an HTML form. Throws AB01 for another content type and for fields that occur twice. */
export async function readForm(request: HonoRequest): Promise<Record<string, string>> {
  const bytes = await readBytes(request, adminBodyBytesMax);
  const type = request.header('content-type') ?? '';
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    throw invalid('content-type: expected application/x-www-form-urlencoded');
  }
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(Buffer.from(bytes).toString('utf8'))) {
    if (fields.has(name)) throw invalid(`${name}: given twice`);
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}
