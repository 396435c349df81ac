import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { newApiKey } from '../../../core/contract/values/credentials/api-key.ts';
import { Secret } from '../../../core/contract/values/credentials/secret.ts';
import { createLog } from '../../../core/log/log.ts';

function newLog() {
  let out = '';
  const destination = {
    write(line: string) {
      out += line;
    },
  };
  const log = createLog({ level: 'info', name: 'gateway', slot: 3, headerPrefixes: ['x-svc-', 'x-other-'], destination });
  return { log, out: () => out };
}

it('log: writes one JSON object per line with level, time, name, slot and message', () => {
  const { log, out } = newLog();
  log.info({ port: 8787 }, 'listening');
  log.debug({}, 'not at this level');
  expect(out().endsWith('\n')).toBe(true);
  expect(JSON.parse(out())).toMatchObject({ name: 'gateway', slot: 3, port: 8787, msg: 'listening' });
  expect(Date.parse(JSON.parse(out()).time)).not.toBeNaN();
});

it('log: contains no planted secret, in any field, depth or text', () => {
  const { log, out } = newLog();
  const key = newApiKey('ws');
  const planted = 'planted-0123456789';
  log.error(
    {
      authorization: planted,
      headers: { 'x-api-key': planted, 'x-svc-api-key': planted, 'x-other-api-key': planted, cookie: planted },
      provider: { settings: { api_key: planted, nested: { secret: planted } } },
      apiKey: new Secret(planted),
      wrapped: new Secret(planted),
      credentials: { anything: planted },
      list: [`Bearer ${planted}`, 'sent Basic cGxhbnRlZA=='],
      ours: `key ${key.text} was refused`,
      theirs: `Incorrect API key provided: sk-proj-${planted}`,
      url: `postgres://svc:${planted}@localhost/db`,
    },
    `sent with Authorization: Bearer ${planted}`,
  );
  expect(out()).not.toContain(planted);
  expect(out()).not.toContain('cGxhbnRlZA');
  expect(out()).not.toContain(key.secret);
  // The public part of our own keys identifies the key.
  expect(out()).toContain(`svc_ws_${key.id}_***`);
});

it('log: keeps ordinary words and fields', () => {
  const { log, out } = newLog();
  log.info(
    { path: '/v1/chat/completions', note: 'skipping-the-long-task pk hfree asia', model: 'gpt-4o-mini', status: 200 },
    'key rotated',
  );
  expect(JSON.parse(out())).toMatchObject({
    path: '/v1/chat/completions',
    note: 'skipping-the-long-task pk hfree asia',
    model: 'gpt-4o-mini',
    status: 200,
    msg: 'key rotated',
  });
});

it('log: escapes control characters, so that text can neither forge a line nor control a terminal', () => {
  const { log, out } = newLog();
  const evil = 'a\n{"level":50}\r\u001b[2J\u009b31m\u007f\u2028\u202e\u2066z';
  log.warn({ evil }, evil);
  expect(out().slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/);
  expect(JSON.parse(out())).toMatchObject({ evil, msg: evil });
});

it('log: loses no line when the process ends', async () => {
  const child = spawn(process.execPath, [fileURLToPath(new URL('log-child.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = (await text(child.stdout)).trim().split('\n');
  expect(lines).toHaveLength(2000);
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ number: 1999 });
});

it.each(['the end of its reader', 'a full disk'])('log: the process continues and ends after %s', async (cause) => {
  const full = openSync('/dev/full', 'w');
  const module = new URL('../../../core/log/log.ts', import.meta.url).href;
  // A call of the same threads: the writes before it have failed when it ends.
  const code = `const { createLog } = await import('${module}');
    const { stat } = await import('node:fs/promises');
    const log = createLog({ level: 'info', name: 'child' });
    for (let at = 0; at < 20; at++) { log.info({}, 'line'); log.print('text\\n'); await stat('.'); }
    log.flush();
    console.error('continued');
    process.exit(0);`;
  const stdout = cause === 'a full disk' ? full : 'pipe';
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', stdout, 'pipe'] });
  child.stdout?.destroy();
  expect(await text(child.stderr as Readable)).toContain('continued');
  closeSync(full);
});

it('log: LOG_FORMAT=pretty writes level names, fields and stacks on own lines, without secrets or control characters', () => {
  let out = '';
  const destination = {
    write(line: string) {
      out += line;
    },
  };
  const log = createLog({ level: 'info', format: 'pretty', name: 'gateway', slot: 1, destination });
  log.warn(
    { port: 8787, note: 'two words', absent: null, reason: 'Error: no\n    at a.ts:1\n    at \u001b[2Jb.ts:2' },
    'it failed',
  );
  log.info({ text: `Bearer planted-0123456789` }, 'line\ntwo');
  expect(out).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} WARN {2}gateway 1: it failed port=8787 note="two words"\n {4}reason:\n {6}Error: no\n {6}at a\.ts:1\n/,
  );
  expect(out).toContain('at \\u001b[2Jb.ts:2\n');
  expect(out).toContain('INFO  gateway 1: line\\ntwo text="Bearer ***"\n');
  expect(out).not.toContain('planted');
});
