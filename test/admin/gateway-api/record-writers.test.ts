import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { NewRecord, RecordWriter } from '../../../admin/define-resource.ts';
import { createRecordStore } from '../../../admin/gateway-api/store-records.ts';
import { requestRecords } from '../../../admin/resources/logs/entity.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { databases } from '../support/test-database.ts';

const session = { messagesFromClient: 1, messagesFromProvider: 1, closeCode: null, closedBy: null };

describe.each(databases)('writers of new records, on %s', (name) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(name);
  });
  afterAll(() => plane?.close());

  let calls: (readonly NewRecord[])[] = [];
  beforeEach(() => {
    calls = [];
  });
  const note: RecordWriter = async (_tx, rows) => void calls.push(rows);
  const storeWith = (...writers: RecordWriter[]) =>
    createRecordStore(plane.control.services.database, writers, plane.control.services.clock);
  const record = (changes = {}) =>
    sampleRecord({ organisationId: plane.organisationId, workspaceId: plane.workspaceId, ...changes });
  const isStored = async (id: string) => (await plane.control.services.database.em().count(requestRecords, { id })) === 1;

  it('receive each record once with its price, however often it is sent', async () => {
    const store = storeWith(note);
    const [first, second] = [record(), record()];
    await store([first, first]);
    await store([first, second]);
    await store([second]);
    expect(calls.map((rows) => rows.map(({ record: { id } }) => id))).toEqual([[first.id], [second.id]]);
    expect(calls[0]?.[0]).toMatchObject({ cost: 45_000, source: 'public', record: first });
    expect(calls[0]?.[0]).not.toHaveProperty('before');
  });

  it('receive a later record of a session with the record that it replaces', async () => {
    const store = storeWith(note);
    const first = record({ session, checkpoint: 1, inputTokens: 10 });
    const last = { ...first, checkpoint: undefined, inputTokens: 30 };
    await store([first]);
    await store([last]);
    await store([first]);
    expect(calls).toHaveLength(2);
    expect(calls[1]).toMatchObject([{ record: { id: first.id, inputTokens: 30 }, before: { record: { inputTokens: 10 } } }]);
  });

  it('receive each result of a batch once, although it gets a new time whenever it is read', async () => {
    const store = storeWith(note);
    const batch = { id: 'batch_1', part: 'result', requests: 3 };
    const first = record({ batch });
    await Promise.all([store([first]), store([{ ...first, createdAt: '2026-11-22T00:00:00.000Z' }, record({ batch })])]);
    await store([{ ...first, createdAt: '2026-11-23T00:00:00.000Z' }]);
    expect(calls.flat().filter((row) => row.record.id === first.id)).toHaveLength(1);
    expect(calls.flat()).toHaveLength(2);
  });

  it('run one by one, and the event loop turns during each, so that storing does not delay requests', async () => {
    let turns = 0;
    let running = true;
    const count = (): void => {
      turns++;
      if (running) setImmediate(count);
    };
    count();
    const [began, ended]: [number[], number[]] = [[], []];
    const write: RecordWriter = async (tx) => {
      began.push(turns);
      await tx.execute('select 1');
      ended.push(turns);
    };
    await storeWith(write, write, write)([record()]);
    running = false;
    expect(began).toHaveLength(3);
    for (const at of [0, 1]) expect(began[at + 1]).toBeGreaterThanOrEqual(ended[at] as number);
    for (const at of [0, 1, 2]) expect(ended[at]).toBeGreaterThan(began[at] as number);
  });

  it('set aside only the records that they cannot write, with everything written for them', async () => {
    const [good, bad] = [record(), record()];
    const write: RecordWriter = async (tx, rows) => {
      await note(tx, rows, 0);
      for (const {
        record: { id },
      } of rows)
        if (id === bad.id) throw new RangeError('a writer that rejects this record');
    };
    expect(await storeWith(write)([good, bad])).toEqual({
      ...{ inserted: 1, duplicates: 0, refused: [bad.id], reasons: ['it caused a RangeError'] },
    });
    expect([await isStored(good.id), await isStored(bad.id)]).toEqual([true, false]);
  });

  it('store records one by one if the statement takes too long for all of them', async () => {
    const both = [record(), record()];
    const slow: RecordWriter = async (tx, rows) => {
      if (rows.length > 1) await tx.execute(`do $$ begin raise exception 'canceling statement' using errcode = '57014'; end $$`);
    };
    expect(await storeWith(slow)(both)).toMatchObject({ inserted: 2, refused: [] });
  });

  it.each([
    ['40P01', 'deadlock detected'],
    ['42501', 'could not open file "base/5/2619": Read-only file system'],
    ['42P01', 'relation "usage_rollups" does not exist'],
    ['58030', 'could not write to file "base/5/2619": Input/output error'],
  ])('store nothing after an error %s of the database, so that the gateway sends the batch again', async (code, message) => {
    const one = record();
    const fail: RecordWriter = async (tx) => {
      await tx.execute(`do $$ begin raise exception '${message}' using errcode = '${code}'; end $$`);
    };
    await expect(storeWith(fail)([one])).rejects.toThrow(message);
    expect(await isStored(one.id)).toBe(false);
    expect(await storeWith(note)([one])).toMatchObject({ inserted: 1 });
  });
});
