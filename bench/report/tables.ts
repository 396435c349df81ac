import type { Contender, ContenderName } from '../contenders/contender.ts';
import type { Measurements } from '../measure.ts';
import type { Scenario } from '../scenarios.ts';
import { median, shown, withSpread } from './statistics.ts';

/** Returns every table of a run as Markdown. */
export function toTables(measured: Measurements, contenders: readonly Contender[], scenarios: readonly Scenario[]): string {
  const parts: string[] = [];
  for (const scenario of scenarios) {
    const table = throughputTable(measured, contenders, scenario);
    if (table) parts.push(`### ${scenario.name}: ${scenario.title}\n\n${table}`);
  }
  const latency = latencyTable(measured, contenders);
  if (latency) parts.push(`### added latency at 1 connection, plain\n\n${latency}`);
  const streams = streamTable(measured, contenders);
  if (streams) parts.push(`### first token and frames\n\n${streams}`);
  parts.push(`### memory\n\n${memoryTable(measured, contenders)}`);
  return parts.join('\n\n');
}

function throughputTable(measured: Measurements, contenders: readonly Contender[], scenario: Scenario): string | null {
  const rows = contenders.flatMap((contender) => {
    const entry = measured.loads.get(`${contender.name}/${scenario.name}`);
    return entry
      ? [
          {
            contender,
            entry,
            rate: median(entry.requestsPerSecond),
            cpu: median(entry.cpuMicros),
            work: median(entry.instructions),
          },
        ]
      : [];
  });
  if (rows.length === 0) return null;
  const of = (name: ContenderName) => rows.find((row) => row.contender.name === name);
  // The cache replies without an upstream, so it is compared with an own call that has one.
  const plain = measured.loads.get('ours/plain');
  const ownRate = scenario.name === 'cached' && plain ? median(plain.requestsPerSecond) : Number.NaN;
  const head = [
    'contender',
    'requests/s, c=64',
    'p50 ms',
    'p99 ms',
    'CPU µs/request, c=8',
    'CPU ÷ bare',
    'CPU ÷ peer',
    'rate × nginx',
    'rate × peer',
  ];
  const counted = rows.some((row) => Number.isFinite(row.work));
  if (counted) head.push('instructions/request', 'instructions ÷ bare');
  if (Number.isFinite(ownRate)) head.push('rate × ours, plain');
  const errorsSeen = rows.some((row) => row.entry.errors > 0);
  if (errorsSeen) head.push('errors');
  const lines = rows.map(({ contender, entry, rate, cpu, work }) => {
    const cells = [
      contender.title,
      withSpread(entry.requestsPerSecond),
      shown(median(entry.p50Micros) / 1000),
      shown(median(entry.p99Micros) / 1000),
      contender.pids().length > 0 ? withSpread(entry.cpuMicros) : '–',
      shown(cpu / (of('bare')?.cpu ?? Number.NaN)),
      shown(cpu / (of('peer')?.cpu ?? Number.NaN)),
      shown(rate / (of('nginx')?.rate ?? Number.NaN)),
      shown(rate / (of('peer')?.rate ?? Number.NaN)),
    ];
    if (counted) cells.push(shown(work), shown(work / (of('bare')?.work ?? Number.NaN)));
    if (Number.isFinite(ownRate)) cells.push(shown(rate / ownRate));
    if (errorsSeen) cells.push(String(entry.errors));
    return cells;
  });
  return markdown(head, lines);
}

function latencyTable(measured: Measurements, contenders: readonly Contender[]): string | null {
  const direct = measured.latencies.get('direct');
  const lines = contenders.flatMap((contender) => {
    const entry = measured.latencies.get(contender.name);
    if (!entry) return [];
    const added = (values: readonly number[], base: readonly number[] | undefined) =>
      contender.name === 'direct' || !base ? '–' : shown(median(values) - median(base));
    return [
      [
        contender.title,
        withSpread(entry.p50Micros),
        withSpread(entry.p99Micros),
        added(entry.p50Micros, direct?.p50Micros),
        added(entry.p99Micros, direct?.p99Micros),
      ],
    ];
  });
  return lines.length === 0 ? null : markdown(['contender', 'p50 µs', 'p99 µs', 'added p50 µs', 'added p99 µs'], lines);
}

function streamTable(measured: Measurements, contenders: readonly Contender[]): string | null {
  const kinds = [...new Set([...measured.streams.values()].map((entry) => `${entry.streams}/${entry.mode}`))];
  const lines = kinds.flatMap((kind) =>
    contenders.flatMap((contender) => {
      const entry = measured.streams.get(`${contender.name}/${kind}`);
      if (!entry) return [];
      const direct = measured.streams.get(`direct/${kind}`);
      const inMs = (values: readonly number[]) => shown(median(values) / 1000);
      const added = direct && contender.name !== 'direct' ? median(entry.firstP50) - median(direct.firstP50) : Number.NaN;
      return [
        [
          String(entry.streams),
          entry.mode,
          contender.title,
          inMs(entry.firstP50),
          inMs(entry.firstP99),
          shown(added / 1000),
          inMs(entry.frameP50),
          inMs(entry.frameP99),
          String(entry.framesLost),
          String(entry.failures),
        ],
      ];
    }),
  );
  if (lines.length === 0) return null;
  const head = [
    'streams',
    'start',
    'contender',
    'first p50 ms',
    'first p99 ms',
    'added p50 ms',
    'frame p50 ms',
    'frame p99 ms',
    'frames lost',
    'failed',
  ];
  return markdown(head, lines, 3);
}

function memoryTable(measured: Measurements, contenders: readonly Contender[]): string {
  const lines = contenders
    .filter((contender) => measured.memory.has(contender.name))
    .map((contender) => {
      const entry = measured.memory.get(contender.name);
      const rest = entry?.restMib ?? null;
      return [
        contender.title,
        shown(entry?.idleMib ?? Number.NaN),
        shown(entry?.afterMib ?? Number.NaN),
        ...(rest === null ? [] : [shown(rest)]),
      ];
    });
  const head = ['contender', 'RSS MiB before load', 'RSS MiB after'];
  if ([...measured.memory.values()].some(({ restMib }) => restMib !== null)) head.push('RSS MiB at rest');
  return markdown(head, lines);
}

/** A Markdown table; the first `textColumns` are aligned left, the rest right. */
function markdown(head: readonly string[], lines: readonly (readonly string[])[], textColumns = 1): string {
  const rule = head.map((_, index) => (index < textColumns ? '---' : '--:'));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
