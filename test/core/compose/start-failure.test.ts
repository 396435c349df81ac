import { expect, it } from 'vitest';
import { startFailure } from '../../../core/compose/start-failure.ts';

const failed = (message: string, code?: string) =>
  startFailure(Object.assign(new Error(message), code ? { code } : {}), '/srv/data');

it.each([
  ['ENOSPC', 1],
  ['EDQUOT', 1],
  ['EIO', 1],
  ['EROFS', 78],
])('startFailure: %s of a write names DATA_DIR', (code, exitCode) => {
  expect(failed(`${code}: as the system says, write`, code)).toEqual({
    message: `DATA_DIR: cannot write to /srv/data (${code}: as the system says, write)`,
    exitCode,
  });
});

it('startFailure: other errors keep their text', () => {
  expect(failed('too many open files', 'EMFILE')).toEqual({ message: 'too many open files', exitCode: 1 });
  expect(failed('PLUGINS: no such file')).toEqual({ message: 'PLUGINS: no such file', exitCode: 78 });
});
