import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type SharedGateway, shareGateway } from '../support/product/shared-gateway.ts';

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
if (!hasPromtool) console.warn('promtool is not installed: its checks are skipped');

let gateway: SharedGateway;
const texts: Record<string, string> = {};
beforeAll(async () => {
  gateway = await shareGateway('pair');
  // A request, so that series with labels exist.
  await fetch(`${gateway.baseUrl}/chat/completions`, { method: 'POST' });
  for (const [name, url] of [
    ['gateway', gateway.origin],
    ['control plane', gateway.controlPlaneUrl],
  ] as const)
    texts[name] = await (await fetch(`${url}/metrics`)).text();
});

const namesIn = (text: string) => new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string));
const baseOf = (name: string) => name.replace(/_(?:bucket|sum|count)$/, '');

describe.each(['gateway', 'control plane'])('metrics of the %s', (name) => {
  it.skipIf(!hasPromtool)('pass promtool check metrics', () => {
    const text = texts[name] as string;
    const own = text
      .split(/(?=^# HELP )/m)
      .filter((part) => part.startsWith('# HELP svc_'))
      .join('');
    expect(own).toContain('svc_');
    const { status, stderr, stdout } = spawnSync('promtool', ['check', 'metrics'], { input: own, encoding: 'utf8' });
    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
  });
});

it('the spools of the processes of a machine have SPOOL_MAX together', () => {
  const shares = [...(texts.gateway as string).matchAll(/^svc_spool_bytes_max\{process="\d"\} (\d+)$/gm)].map(([, bytes]) =>
    Number(bytes),
  );
  expect(shares).toEqual([2 ** 32, 2 ** 32]);
});

it('gauges of the spool and of NATS are 1 while both work', () => {
  for (const name of ['svc_spool_writable', 'svc_nats_connected'])
    expect((texts.gateway as string).match(new RegExp(`^${name}\\{.*$`, 'gm'))?.sort()).toEqual([
      `${name}{process="0"} 1`,
      `${name}{process="1"} 1`,
    ]);
});

const dashboard = JSON.parse(readFileSync('docs/grafana/svc-gateway.json', 'utf8')) as {
  panels: { targets?: { expr: string }[] }[];
};
const panels = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const alerts = [...readFileSync('docs/prometheus/rules.yml', 'utf8').matchAll(/expr: (.*)/g)].map(([, expr]) => expr as string);
const expressions = [...panels, ...alerts];

/** Gauges that each control plane reports for the whole database, and circuits, which gateways share. A sum counts them several times. */
const shared = [
  ...['svc_budgets', 'svc_budget_used_ratio', 'svc_jobs', 'svc_circuits_open'],
  ...['svc_mails_waiting', 'svc_mails_oldest_seconds', 'svc_log_bodies_waiting', 'svc_record_copies_oldest_seconds'],
];

it.each(shared)('the Grafana dashboard and the alerts take the maximum of %s over processes', (name) => {
  const using = expressions.filter((expr) => new RegExp(`\\b${name}\\b`).test(expr));
  expect(using.length).toBeGreaterThan(0);
  expect(using.filter((expr) => !/^max\b/.test(expr))).toEqual([]);
});

it('the Grafana dashboard and the alerts name metrics that exist', () => {
  const known = new Set([...namesIn(texts.gateway as string), ...namesIn(texts['control plane'] as string)]);
  const used = expressions.flatMap((expr) => [...expr.matchAll(/\b(?:svc|process)_[a-z_]+/g)].map(([one]) => one));
  expect([...new Set(used)].filter((one) => !known.has(one) && !known.has(baseOf(one)))).toEqual([]);
});

/** For each alert, series of half an hour that cause it. Bytes are 80 % of the least default of BODY_MEMORY_MAX, and of a small SPOOL_MAX. */
const causes: Record<string, Record<string, string>> = {
  SvcGatewayServerErrors: { 'svc_requests_total{status="200"}': '0+90x60', 'svc_requests_total{status="503"}': '0+10x60' },
  SvcGatewayCredentialRefused: {
    'svc_upstream_replies_total{provider="openai",status="200"}': '0+80x60',
    'svc_upstream_replies_total{provider="openai",status="401"}': '0+20x60',
  },
  SvcGatewayControlPlaneErrors: {
    'svc_admin_requests_total{status="200"}': '0+60x60',
    'svc_admin_requests_total{status="503"}': '0+40x60',
  },
  SvcGatewayControlPlaneAbsent: {},
  SvcGatewayRecordsNotShipped: { svc_spool_bytes: '80e6x60', svc_spool_bytes_max: '100e6x60' },
  SvcGatewayRecordsRejected: { svc_spool_writable: '0x60' },
  SvcGatewayRecordsLost: { svc_records_lost_total: '0x50 1x10' },
  SvcGatewayLedgerFailures: { svc_lease_failures_total: '0+1x60', svc_lease_asks_total: '0+5x60' },
  SvcGatewayCircuitsOpen: { svc_circuits_open: '1x60' },
  SvcGatewaySecretsOld: { svc_secret_value_age_seconds: '1000x60' },
  SvcGatewayBodyMemory: { svc_body_bytes_held: '94e6x60', svc_body_bytes_max: '117440512x60' },
  SvcGatewayNatsLost: { svc_nats_connected: '0x60' },
  SvcGatewayProcessRestarts: { 'process_start_time_seconds{process="0"}': '0+60x60' },
  SvcGatewayJobsFailing: { 'svc_jobs{kind="export",state="failing"}': '1x60' },
  SvcGatewayMailsLate: { svc_mails_oldest_seconds: '1000x60' },
  SvcGatewayBodiesNotStored: { svc_log_bodies_waiting: '3x60' },
  SvcGatewayRecordCopiesLate: { svc_record_copies_oldest_seconds: '1000x60' },
};

it.skipIf(!hasPromtool)('each alert fires when its cause lasts', () => {
  const rules = readFileSync('docs/prometheus/rules.yml', 'utf8');
  const names = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name);
  expect(Object.keys(causes)).toEqual(names);
  const tests = Object.entries(causes).map(([alertname, series]) => {
    const severity = new RegExp(`alert: ${alertname}\\n(?:.*\\n)*?.*severity: (\\w+)`).exec(rules)?.[1];
    const labels = labelsOf(exprOf(rules, alertname));
    return {
      interval: '30s',
      input_series: Object.entries(series).map(([name, values]) => ({ series: withInstance(name), values })),
      alert_rule_test: [
        {
          eval_time: '29m',
          alertname,
          exp_alerts: [{ exp_labels: { severity, ...labels }, exp_annotations: { summary: 'text' } }],
        },
      ],
    };
  });
  expect(testRules(tests)).toMatchObject({ status: 0 });
});

it.skipIf(!hasPromtool)('no alert fires during a restart, a minute without NATS, or seconds without space on the disk', () => {
  const series = {
    'svc_admin_requests_total{status="200"}': '0+1x60',
    'svc_spool_writable{process="0"}': '1x60',
    'svc_spool_writable{process="1"}': '1x20 0 1x39',
    'svc_nats_connected{process="0"}': '1x20 0x1 1x38',
    'svc_nats_connected{process="1"}': '1x60',
    'process_start_time_seconds{process="0"}': '100x20 200x39',
    'process_start_time_seconds{process="1"}': '100x20 201x39',
  };
  const tests = ['10m', '10m30s', '11m', '29m'].map((eval_time) => ({
    interval: '30s',
    input_series: Object.entries(series).map(([name, values]) => ({ series: withInstance(name), values })),
    alert_rule_test: Object.keys(causes).map((alertname) => ({ eval_time, alertname, exp_alerts: [] })),
  }));
  expect(testRules(tests)).toMatchObject({ status: 0 });
});

/** Runs unit tests of the alerts, whose summaries are `text`. */
function testRules(tests: readonly object[]): { status: number | null; output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
  const rules = readFileSync('docs/prometheus/rules.yml', 'utf8');
  writeFileSync(join(folder, 'rules.yml'), rules.replaceAll(/^ +summary: .*\n/gm, '          summary: text\n'));
  writeFileSync(join(folder, 'test.yml'), JSON.stringify({ rule_files: ['rules.yml'], evaluation_interval: '30s', tests }));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'test.yml'], { cwd: folder, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return { status, output: stdout + stderr };
}

function labelsOf(expr: string): Record<string, string> {
  if (/^sum by \(provider\)/.test(expr)) return { provider: 'openai' };
  if (/^max by \(kind\)/.test(expr)) return { kind: 'export' };
  return /^(?:sum|max|absent)\(/.test(expr) ? {} : { instance: 'a:8787' };
}

function exprOf(rules: string, alert: string): string {
  return new RegExp(`alert: ${alert}\\n +expr: (.*)`).exec(rules)?.[1] ?? '';
}

function withInstance(series: string): string {
  return series.endsWith('}') ? series.replace('{', '{instance="a:8787",') : `${series}{instance="a:8787"}`;
}

it('deployments: the gateways report to their control plane, and are listed at the gateway with the admin key', async () => {
  const list = await fetch(`${gateway.baseUrl}/deployments`, { headers: { 'x-svc-api-key': gateway.adminKey } });
  const { data } = (await list.json()) as { data: { slug: string }[] };
  const found = data.find(({ slug }) => slug === 'default');
  expect(found).toMatchObject({ connection_status: 'healthy', is_default: 1 });
  const ready = await fetch(`${gateway.controlPlaneUrl}/ready`);
  expect(await ready.json()).toMatchObject({ gateways: { unhealthy: 0 } });
});
