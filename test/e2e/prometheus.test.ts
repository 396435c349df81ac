import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { type SharedGateway, shareGateway } from '../support/product/shared-gateway.ts';

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
if (!hasPromtool) console.warn('promtool is not installed: its checks are skipped');

let gateway: SharedGateway;
const texts: Record<string, string> = {};
beforeAll(async () => {
  gateway = await shareGateway();
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

const dashboard = JSON.parse(readFileSync('docs/grafana/svc-gateway.json', 'utf8')) as {
  panels: { targets?: { expr: string }[] }[];
};
const panels = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const alerts = [...readFileSync('docs/prometheus/rules.yml', 'utf8').matchAll(/expr: (.*)/g)].map(([, expr]) => expr as string);
const expressions = [...panels, ...alerts];

/** Gauges that each control plane reports for the whole database, and circuits, which gateways share. A sum counts them several times. */
const shared = ['svc_budgets', 'svc_budget_used_ratio', 'svc_jobs', 'svc_circuits_open'];

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

it('deployments: the gateways report to their control plane, and are listed at the gateway with the admin key', async () => {
  const list = await fetch(`${gateway.baseUrl}/deployments`, { headers: { 'x-svc-api-key': gateway.adminKey } });
  const { data } = (await list.json()) as { data: { slug: string }[] };
  const found = data.find(({ slug }) => slug === 'default');
  expect(found).toMatchObject({ connection_status: 'healthy', is_default: 1 });
  const ready = await fetch(`${gateway.controlPlaneUrl}/ready`);
  expect(await ready.json()).toMatchObject({ gateways: { unhealthy: 0 } });
});
