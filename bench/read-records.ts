import { parseArgs } from 'node:util';
import { readRow } from '../admin/db/plain-rows.ts';
import { storeBatch } from '../admin/gateway-api/store-records.ts';
import { apiKeys } from '../admin/resources/api-keys/entity.ts';
import { requestRecords } from '../admin/resources/logs/entity.ts';
import { listLogs } from '../admin/resources/logs/list-logs.ts';
import { toWorkspaceDocument } from '../admin/resources/workspaces/to-document.ts';
import { keepObjectsYoung } from '../core/contract/values/keep-objects-young.ts';
import { newBatches } from './records/new-batches.ts';
import { startPlane } from './records/start-plane.ts';

/**
 * `node --single-threaded-gc bench/read-records.ts [--pglite] [--rounds 40]` measures the CPU time that the control plane needs to read a page of
 * 500 records, as lists and exports do, and for a lookup of a key by its id, as each request of the admin API does. Beside each it measures, in turn,
 * the time that the ORM needs to make entities of the same rows. A document of a workspace, which gateways read after a change, has five lookups.
 * Median and smallest round.
 * PostgreSQL is the server of TEST_DATABASE_URL, whose own time is not counted; the embedded database runs in the same process.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '40' }, pglite: { type: 'boolean', default: false } },
});
const [rounds, warmUp, size] = [Number(options.rounds), 10, 500];

const plane = await startPlane(options.pglite);
const { organisationId, workspaceId, control } = plane;
const page = { size: size - 1, offset: 0, after: null };

const { publicId } = await newManager().findOneOrFail(apiKeys, { type: 'organisation-service' });
const lookups = 20;

/** Each with the number of rows that it reads. */
const reads: Readonly<Record<string, readonly [rows: number, read: () => Promise<unknown>]>> = {
  'records of lists and exports': [
    size,
    () => listLogs(newManager(), [{ text: 'r.organisation_id = ?', values: [organisationId] }], page),
  ],
  'records as entities': [
    size,
    () =>
      newManager()
        .createQueryBuilder(requestRecords, 'r')
        .where({ organisationId })
        .orderBy({ createdAt: 'desc', id: 'desc' })
        .limit(size)
        .getResult(),
  ],
  'lookups of keys': [lookups, () => times(lookups, () => readRow(newManager(), apiKeys, { publicId }))],
  'documents of workspaces': [lookups, () => times(lookups, () => toWorkspaceDocument(newManager(), workspaceId))],
  'lookups as entities': [lookups, () => times(lookups, () => newManager().findOneOrFail(apiKeys, { publicId }))],
};

async function times(count: number, work: () => Promise<unknown>): Promise<void> {
  for (let at = 0; at < count; at++) await work();
}

try {
  const newBatch = newBatches(plane, size);
  for (let at = 0; at < 4; at++) await storeBatch(control.services.storeRecords, newBatch(Date.now()), control.services.log);
  // As at the end of the start of a control plane.
  keepObjectsYoung();
  const micros = new Map<string, number[]>();
  for (let round = 0; round < rounds + warmUp; round++) {
    for (const [name, [rows, read]] of Object.entries(reads)) {
      const before = process.cpuUsage();
      await read();
      const { user, system } = process.cpuUsage(before);
      if (round >= warmUp) micros.set(name, [...(micros.get(name) ?? []), (user + system) / rows]);
    }
  }
  for (const [name, all] of micros) {
    const [smallest = 0, median = 0] = [0, all.length >> 1].map((at) => all.sort((a, b) => a - b)[at]);
    console.log(`${name}: ${median.toFixed(1)} µs of CPU per row (smallest ${smallest.toFixed(1)})`);
  }
} finally {
  await plane.close();
}

function newManager() {
  return control.services.database.emOf(organisationId);
}
