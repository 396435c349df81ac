import { decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { Claims } from './claims.ts';
import type { FindKey } from './keys.ts';

export type Checked =
  | { readonly ok: true; readonly claims: Claims }
  | { readonly ok: false; readonly explanation: string; readonly isSigned?: boolean };

interface Rules {
  readonly algorithms: readonly string[];
  readonly clockTolerance: number;
  /** Null: any age. With an age, a token without an issue time is refused, unless `ageOptional` is set. */
  readonly maxTokenAge: string | number | null;
  readonly ageOptional?: boolean;
}

const charsMax = 16_384;

/** Verifies signature and times of a JWT. Rejects only if the keys cannot be read. */
export async function verify(
  token: string,
  findKey: FindKey,
  { algorithms: allowed, clockTolerance, maxTokenAge, ageOptional = false }: Rules,
): Promise<Checked> {
  const header = token.length > charsMax ? null : headerOf(token);
  if (header === null) return { ok: false, explanation: 'JWT validation error: Invalid JWT' };
  if (header.alg === undefined || !allowed.includes(header.alg)) {
    return { ok: false, explanation: `JWT validation error: the algorithm is not one of ${allowed.join(', ')}` };
  }
  const key = await findKey(header.kid, header.alg);
  if (key === null) return { ok: false, explanation: 'No matching key found for kid' };
  try {
    const options = { algorithms: [...allowed], clockTolerance };
    const { payload } = await jwtVerify(token, key, options);
    if (maxTokenAge !== null && (payload.iat !== undefined || !ageOptional))
      await jwtVerify(token, key, { ...options, maxTokenAge });
    return { ok: true, claims: payload };
  } catch (thrown) {
    if (!(thrown instanceof errors.JOSEError)) throw thrown;
    return { ok: false, explanation: `JWT signature validation error: ${thrown.message}`, isSigned: false };
  }
}

function headerOf(token: string): { alg?: string | undefined; kid?: string | undefined } | null {
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    return token.split('.').length === 3 ? { alg, kid } : null;
  } catch {
    return null;
  }
}
