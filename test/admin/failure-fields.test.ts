import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../admin/db/open-database.ts';
import { failureFields } from '../../admin/failure-fields.ts';
import { ObjectStoreError } from '../../admin/object-store/object-store.ts';
import { configs } from '../../admin/resources/configs/entity.ts';
import { entities, migrations } from '../../admin/tables.ts';
import { newMemoryLog } from '../support/fakes/memory-log.ts';
import { type Plane, startPlane } from './support/plane.ts';
import { databases, postgresMissing } from './support/test-database.ts';

describe.each(databases)('the log of a failure, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('has code, constraint and column of a database error, and none of its data', async () => {
    const em = plane.control.services.database.em();
    await plane.ask('POST', '/configs', { body: { name: 'planted', slug: 'planted', config: { provider: '@mock' } } });
    const error = await em.nativeUpdate(configs, {}, { status: 'planted' as 'active' }).catch((thrown: unknown) => thrown);
    expect(String((error as Error).message)).toContain('planted');
    expect(failureFields(error)).toMatchObject({
      error: { code: '23514', constraint: 'configs_status_check' },
      stack: expect.stringMatching(/^ +at /),
    });
    expect(JSON.stringify(failureFields(error))).not.toContain('planted');
  });

  it('has no data of the statement either if the statement was prepared', async () => {
    const { database } = plane.control.services;
    const failing = database.ask({ name: 'planted', text: 'select ?::text::uuid' }, ['planted']);
    const fields = failureFields(await failing.catch((thrown: unknown) => thrown));
    expect(fields).toMatchObject({ reason: 'the database rejected the statement', error: { code: '22P02' } });
    expect(JSON.stringify(fields)).not.toContain('planted');
  });

  it('has no frames of an error of the object store, such as that of a job which is repeated while the store is away', () => {
    expect(failureFields(new ObjectStoreError('OBJECT_STORE: no reply'))).toEqual({
      reason: 'OBJECT_STORE: no reply',
      error: { name: 'ObjectStoreError', code: null, constraint: null },
      stack: '',
    });
  });

  it('has the message of own errors, and accepts values that are not errors', () => {
    expect(failureFields(new TypeError('x is not a function'))).toMatchObject({
      reason: 'x is not a function',
      error: { name: 'TypeError', code: null },
    });
    expect(failureFields('oops')).toMatchObject({ reason: 'oops', error: { name: 'string' }, stack: '' });
  });

  it.each([
    ['57014', 'statement_timeout'],
    ['55P03', 'lock_timeout'],
    ['25P03', 'idle_in_transaction_session_timeout'],
    ['25P04', 'transaction_timeout'],
  ])('counts the time limit of PostgreSQL with the code %s as a database that is away, and names %s', (code, setting) => {
    expect(failureFields(Object.assign(new Error('too late'), { code, severity: 'ERROR' }))).toMatchObject({
      reason: expect.stringContaining(setting),
      error: { code, databaseAway: true },
    });
  });

  it.each([
    ['28000', 'rejects the user of DATABASE_URL'],
    ['28P01', 'rejects the password in DATABASE_URL'],
    ['3D000', 'does not exist'],
  ])('counts a rejected connection with the code %s as a database that is away', (code, reason) => {
    expect(failureFields(Object.assign(new Error('rejected'), { code, severity: 'FATAL' }))).toMatchObject({
      reason: expect.stringContaining(reason),
      error: { code, databaseAway: true },
    });
  });

  it('names a full disk under the embedded database', () => {
    expect(failureFields({ name: 'ErrnoError', errno: 51 })).toMatchObject({
      reason: 'no space left on the disk of DATA_DIR',
      error: { code: 'ENOSPC' },
    });
  });
});

it.skipIf(postgresMissing !== null).each([
  ['database', { pathname: '/svc_no_such_database' }, '3D000', /DATABASE_URL names does not exist/],
  ['user', { username: 'svc_no_such_user' }, '28000', /rejects the user of DATABASE_URL/],
])(
  'a start with an unknown %s in DATABASE_URL fails, creates nothing, and names the setting',
  async (_, change, code, message) => {
    const databaseUrl = Object.assign(new URL(process.env.TEST_DATABASE_URL ?? ''), change).href;
    const settings = { databaseUrl, dbPoolSize: 1, dataDir: '' };
    const open = openDatabase(settings, { entities, migrations }, newMemoryLog());
    expect(failureFields(await open.catch((thrown: unknown) => thrown))).toMatchObject({
      reason: expect.stringMatching(message),
      error: { code },
    });
  },
);

it('a start behind a pooler that rejects a parameter of connections names the setting of the pooler', async () => {
  // The reply of PgBouncer: one error with severity, code and message.
  const fields = Buffer.from('SERROR\0C08P01\0Munsupported startup parameter: lock_timeout\0\0');
  const size = Buffer.alloc(4);
  size.writeUInt32BE(fields.length + 4);
  const pooler = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), size, fields])));
  });
  await once(pooler.listen(0, '127.0.0.1'), 'listening');
  const databaseUrl = `postgresql://svc@127.0.0.1:${(pooler.address() as AddressInfo).port}/svc`;
  const open = openDatabase({ databaseUrl, dbPoolSize: 1, dataDir: '' }, { entities, migrations }, newMemoryLog());
  expect(failureFields(await open.catch((thrown: unknown) => thrown))).toMatchObject({
    reason: expect.stringMatching(/PgBouncer: ignore_startup_parameters = lock_timeout/),
    error: { code: '08P01' },
  });
  pooler.close();
});
