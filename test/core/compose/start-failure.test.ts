import { expect, it } from 'vitest';
import { startFailure } from '../../../core/compose/start-failure.ts';

const failed = (message: string, code?: string) =>
  startFailure(Object.assign(new Error(message), code ? { code } : {}), '/srv/data');

it.each(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS'])('startFailure: %s of a write names DATA_DIR and allows a restart', (code) => {
  expect(failed(`${code}: as the system says, write`, code)).toEqual({
    message: `DATA_DIR: cannot use /srv/data (${code}: as the system says, write)`,
    exitCode: 1,
  });
});

it('startFailure: a file below DATA_DIR that cannot be used allows a restart, any other file none', () => {
  const closed = (path: string) =>
    startFailure(Object.assign(new Error(`EACCES: denied, open '${path}'`), { code: 'EACCES', path }), '/srv/data');
  expect(closed('/srv/data/spool/0')).toEqual({
    message: "DATA_DIR: cannot use /srv/data (EACCES: denied, open '/srv/data/spool/0')",
    exitCode: 1,
  });
  expect(closed('/srv/data')).toMatchObject({ exitCode: 1 });
  expect(closed('/srv/data-of-another')).toEqual({ message: "EACCES: denied, open '/srv/data-of-another'", exitCode: 78 });
});

it('startFailure: other errors keep their text', () => {
  expect(failed('too many open files', 'EMFILE')).toEqual({ message: 'too many open files', exitCode: 1 });
  expect(failed('PLUGINS: no such file')).toEqual({ message: 'PLUGINS: no such file', exitCode: 78 });
});
