import { spawnSync } from 'node:child_process';
import type { Reporter, TestModule } from 'vitest/node';

/** A program or server that some tests need and a machine may lack. */
interface Requirement {
  readonly name: string;
  readonly isMissing: () => boolean;
  /** The command or setting that enables the tests. */
  readonly enable: string;
  /** The tests that do not run without it. */
  readonly tests: string;
}

const lacks = (program: string, argument: string) => (): boolean => spawnSync(program, [argument]).error !== undefined;

export const requirements: readonly Requirement[] = [
  {
    name: 'PostgreSQL',
    isMissing: () => !process.env.TEST_DATABASE_URL,
    enable: 'start PostgreSQL 15 or newer and set TEST_DATABASE_URL=postgresql://<superuser>@<host>:<port>/postgres',
    tests: 'the admin suites a second time on a server, two control planes, and the failure table',
  },
  {
    name: 'nats-server',
    isMissing: lacks(process.env.NATS_SERVER ?? 'nats-server', '--version'),
    enable: 'install nats-server (Debian: apt-get install nats-server), or set NATS_SERVER to its path',
    tests: 'change notices over NATS and the failure table',
  },
  {
    name: 'nginx',
    isMissing: lacks('nginx', '-v'),
    enable: 'install nginx (Debian: apt-get install nginx)',
    tests: 'the part of the TLS guide about a proxy',
  },
  {
    name: 'Chromium',
    isMissing: lacks('/usr/bin/chromium', '--version'),
    enable: 'install Chromium (Debian: apt-get install chromium)',
    tests: 'the pages for people in a browser, with axe-core',
  },
  {
    name: 'gcc',
    isMissing: lacks('gcc', '--version'),
    enable: 'install gcc (Debian: apt-get install gcc libc6-dev)',
    tests: 'replies over sockets with forced short writes',
  },
];

/**
 * Prints how many tests were skipped and how to enable them, as the last lines of a run. A suite that runs once per database is
 * not counted for a missing server, because it registers no test for it. The line of the requirement names it.
 */
export class SkippedTestsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    console.log(
      skippedSummary(
        countSkipped(modules),
        requirements.filter(({ isMissing }) => isMissing()),
      ),
    );
  }
}

export function skippedSummary(skipped: number, missing: readonly Requirement[]): string {
  const lines = [`${skipped} ${skipped === 1 ? 'test' : 'tests'} skipped`];
  for (const { name, enable, tests } of missing) lines.push(`  ${name} is missing. Not run: ${tests}. To enable: ${enable}.`);
  return lines.join('\n');
}

function countSkipped(modules: readonly TestModule[]): number {
  let skipped = 0;
  for (const module of modules) for (const _ of module.children.allTests('skipped')) skipped++;
  return skipped;
}
