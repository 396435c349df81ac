import { parseArgs } from 'node:util';
import { storeBatch } from '../admin/gateway-api/store-records.ts';
import { requestRecords } from '../admin/resources/logs/entity.ts';
import { listLogs } from '../admin/resources/logs/list-logs.ts';
import { keepObjectsYoung } from '../core/contract/values/keep-objects-young.ts';
import { newBatches } from './records/new-batches.ts';
import { startPlane } from './records/start-plane.ts';

/**
 * `node --single-threaded-gc bench/read-records.ts [--pglite] [--rounds 40]` measures the CPU time that the control plane needs to read a page of
 * 500 records, as lists and exports do, and the time that the ORM needs to make entities of the same page, in turn. Median and smallest round.
 * PostgreSQL is the server of TEST_DATABASE_URL, whose own time is not counted; the embedded database runs in the same process.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '40' }, pglite: { type: 'boolean', default: false } },
});
const [rounds, warmUp, size] = [Number(options.rounds), 10, 500];

const plane = await startPlane(options.pglite);
const { organisationId, control } = plane;
const page = { size: size - 1, offset: 0, after: null };

const reads = {
  'lists and exports': () => listLogs(newManager(), [{ text: 'r.organisation_id = ?', values: [organisationId] }], page),
  'entities of the ORM': () =>
    newManager()
      .createQueryBuilder(requestRecords, 'r')
      .where({ organisationId })
      .orderBy({ createdAt: 'desc', id: 'desc' })
      .limit(size)
      .getResult(),
};

try {
  const newBatch = newBatches(plane, size);
  for (let at = 0; at < 4; at++) await storeBatch(control.services.storeRecords, newBatch(Date.now()));
  // As at the end of the start of a control plane.
  keepObjectsYoung();
  const micros = new Map<string, number[]>();
  for (let round = 0; round < rounds + warmUp; round++) {
    for (const [name, read] of Object.entries(reads)) {
      const before = process.cpuUsage();
      await read();
      const { user, system } = process.cpuUsage(before);
      if (round >= warmUp) micros.set(name, [...(micros.get(name) ?? []), (user + system) / size]);
    }
  }
  for (const [name, all] of micros) {
    const [smallest = 0, median = 0] = [0, all.length >> 1].map((at) => all.sort((a, b) => a - b)[at]);
    console.log(`${name}: ${median.toFixed(1)} µs of CPU per record (smallest ${smallest.toFixed(1)})`);
  }
} finally {
  await plane.close();
}

function newManager() {
  return control.services.database.emOf(organisationId);
}
