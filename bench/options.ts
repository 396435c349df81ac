import { parseArgs } from 'node:util';
import { type ContenderName, contenderNames } from './contenders/contender.ts';
import type { LoadTool } from './load/load.ts';
import { type ScenarioName, scenarioNames } from './scenarios.ts';

export interface BenchOptions {
  /** Length of one measurement. */
  readonly seconds: number;
  /** Seconds of load per contender and scenario before the first round: V8 compiles while it has few calls. */
  readonly warmUpSeconds: number;
  readonly rounds: number;
  /** Size of plain bodies and replies. */
  readonly bytes: number;
  readonly scenarios: readonly ScenarioName[];
  readonly contenders: readonly ContenderName[];
  /** Numbers of streams for the first-token table; empty = no table. */
  readonly streams: readonly number[];
  /** Seconds between the end of all load and the last reading of memory: V8 gives memory back when a process is idle. 0: no such reading. */
  readonly restSeconds: number;
  readonly tool: LoadTool | null;
  /** Put the tables into `bench/README.md`. */
  readonly write: boolean;
}

export const usage = `npm run bench -- [options]

  --peers                 also measure the npm peer (installed under bench/peers when missing)
  --seconds 6             length of one measurement
  --warm-up 10            seconds of load per contender and scenario before the first round
  --rounds 5              rounds; each measures every contender once, medians are shown
  --bytes 1024            size of plain request and reply bodies
  --only plain,stream     of ${scenarioNames.join(', ')}
  --against direct,bare   contenders, of ${contenderNames.join(', ')}
  --streams 32,256,512    numbers of open streams for first-token times, part of the stream scenario; 0 = none
  --rest 0                seconds after the load at which memory is read once more; 90 is long enough for V8; 0 = not
  --tool wrk|autocannon   load generator; wrk where it is installed
  --write                 put the tables into bench/README.md`;

/** Reads the command line. Throws with a line that names the error. */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      peers: { type: 'boolean', default: false },
      seconds: { type: 'string', default: '6' },
      'warm-up': { type: 'string', default: '10' },
      rounds: { type: 'string', default: '5' },
      bytes: { type: 'string', default: '1024' },
      only: { type: 'string', default: scenarioNames.join(',') },
      against: { type: 'string', default: contenderNames.filter((name) => name !== 'peer').join(',') },
      streams: { type: 'string', default: '32,256,512' },
      rest: { type: 'string', default: '0' },
      tool: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  });
  const contenders = listOf(values.against, contenderNames, '--against');
  return {
    seconds: numberOf(values.seconds, '--seconds', 1),
    warmUpSeconds: numberOf(values['warm-up'], '--warm-up', 0),
    rounds: numberOf(values.rounds, '--rounds', 1),
    bytes: numberOf(values.bytes, '--bytes', 512),
    scenarios: listOf(values.only, scenarioNames, '--only'),
    contenders: values.peers && !contenders.includes('peer') ? [...contenders, 'peer'] : contenders,
    streams: values.streams
      .split(',')
      .map((text) => numberOf(text, '--streams', 0))
      .filter((count) => count > 0),
    restSeconds: numberOf(values.rest, '--rest', 0),
    tool: values.tool === undefined ? null : (listOf(values.tool, ['wrk', 'autocannon'] as const, '--tool')[0] as LoadTool),
    write: values.write,
  };
}

function numberOf(text: string, option: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) throw new Error(`${option}: ${text} is not a whole number of at least ${least}`);
  return value;
}

function listOf<Name extends string>(text: string, known: readonly Name[], option: string): Name[] {
  const names = text.split(',').filter(Boolean);
  const stranger = names.find((name) => !known.includes(name as Name));
  if (stranger !== undefined) throw new Error(`${option}: ${stranger} is none of ${known.join(', ')}`);
  return names as Name[];
}
