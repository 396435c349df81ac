import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { AdminError } from '../http/errors.ts';

/**
 * scrypt with N=2^15, r=8, p=3: one of the equivalent settings of the OWASP Password Storage Cheat Sheet; 32 MiB each. It runs
 * on the thread pool, never on the main loop.
 */
const cost = { logN: 15, r: 8, p: 3 };
const keyBytes = 32;

/** `scrypt$15$8$3$<salt>$<key>`: a later build may raise the cost and still read existing hashes. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, cost);
  return `scrypt$${cost.logN}$${cost.r}$${cost.p}$${salt.toString('base64url')}$${key.toString('base64url')}`;
}

/**
 * Returns true if the password matches the stored hash. Null (unknown user, or a user without a password) takes the same time and
 * is always false. Throws AB10 if too many checks are running.
 */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const [, logN, r, p, salt, key] = (stored ?? nobody).split('$') as [string, string, string, string, string, string];
  const expected = Buffer.from(key, 'base64url');
  const found = await derive(password, Buffer.from(salt, 'base64url'), { logN: Number(logN), r: Number(r), p: Number(p) });
  return timingSafeEqual(found, expected) && stored !== null;
}

const nobody = `scrypt$${cost.logN}$${cost.r}$${cost.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Concurrent hashings, and those waiting. Above that, a flood of logins would take threads and memory from all other work. */
const runningMax = 2;
const waitingMax = 30;
let running = 0;
const waiting: (() => void)[] = [];

async function derive(password: string, salt: Buffer, { logN, r, p }: typeof cost): Promise<Buffer> {
  if (running >= runningMax) {
    if (waiting.length >= waitingMax) throw new AdminError('AB10', 'Too many sign-ins are running. Try again shortly');
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running++;
  try {
    const options: ScryptOptions = { N: 2 ** logN, r, p, maxmem: 256 * 2 ** logN * r };
    return await new Promise((resolve, reject) => {
      // NFC, so that one password typed on two keyboards is one password (RFC 8265).
      scrypt(password.normalize('NFC'), salt, keyBytes, options, (error, key) => (error ? reject(error) : resolve(key)));
    });
  } finally {
    // The slot passes to the longest waiting call, or becomes free.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}
