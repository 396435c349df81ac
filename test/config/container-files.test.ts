import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadSettings } from '../../config/load-settings.ts';
import { misspeltSettings } from '../../config/misspelt-settings.ts';
import { readSecretFiles, secretNames } from '../../config/secret-files.ts';
import type { Settings } from '../../config/settings.ts';
import { newApiKey } from '../../core/contract/values/credentials/api-key.ts';

const docs = join(import.meta.dirname, '../../docs');
const folder = mkdtempSync(join(tmpdir(), 'container-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secrets: Readonly<Record<string, string>> = {
  'encryption-key': randomBytes(32).toString('base64'),
  'cluster-key': randomBytes(32).toString('base64'),
  'database-url': 'postgresql://gateway:password@database:5432/gateway',
  'nats-url': 'nats://svc:password@nats:4222',
  'admin-key': newApiKey('admin').text,
  'workspace-key': newApiKey('ws').text,
};
for (const [name, value] of Object.entries(secrets)) writeFileSync(join(folder, name), `${value}\n`);

/** Loads settings as a container would, with the files of its secrets in a folder of this test. */
function settingsOf(env: Readonly<Record<string, string>>): Settings {
  const image = { DATA_DIR: '/data', HOST: '0.0.0.0' };
  const given = Object.entries({ ...image, ...env }).map(([name, value]) => [
    name,
    name.endsWith('_FILE') ? join(folder, basename(value)) : value,
  ]);
  const read = readSecretFiles(Object.fromEntries(given));
  expect(misspeltSettings(read)).toEqual([]);
  return loadSettings(read);
}

/** Seconds after which the container may be killed: DRAIN_DELAY, DRAIN_TIMEOUT and the time for the end of the processes. */
const stopSeconds = ({ drainDelayMs, drainTimeoutMs }: Settings): number => (drainDelayMs + drainTimeoutMs) / 1000 + 20;

describe('docs/kubernetes/svc-gateway.yaml', () => {
  const documents = parseAllDocuments(readFileSync(join(docs, 'kubernetes/svc-gateway.yaml'), 'utf8')).map((document) => {
    expect(document.errors).toEqual([]);
    // biome-ignore lint/suspicious/noExplicitAny: manifests are looked into freely; what is asserted is the check
    return document.toJS() as any;
  });
  const of = (kind: string, name: string) => documents.find((one) => one.kind === kind && one.metadata.name === name);
  const shared = of('ConfigMap', 'svc-gateway').data;
  const workloads = { 'control-plane': of('Deployment', 'svc-gateway-control-plane'), gateway: of('StatefulSet', 'svc-gateway') };
  const settings = (role: keyof typeof workloads): Settings => {
    const [container] = workloads[role].spec.template.spec.containers;
    const own = container.env.map(({ name, value }: { name: string; value: string }) => [name, value]);
    return settingsOf({ ...shared, ...Object.fromEntries(own) });
  };

  it.each(['control-plane', 'gateway'] as const)('has settings with which the %s starts, and probes of its port', (role) => {
    const { role: own, port, controlPlanePort, ...loaded } = settings(role);
    expect(own).toBe(role);
    expect(role === 'gateway' ? loaded.host : loaded.controlPlaneHost).toBe('0.0.0.0');
    const pod = workloads[role].spec.template.spec;
    const [container] = pod.containers;
    expect(container.ports).toEqual([{ name: 'http', containerPort: role === 'gateway' ? port : controlPlanePort }]);
    const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe].map(({ httpGet }) => httpGet);
    expect(probes).toEqual(['/health', '/ready', '/health'].map((path) => ({ path, port: 'http' })));
    for (const { timeoutSeconds, failureThreshold } of [container.readinessProbe, container.livenessProbe])
      expect(Math.min(timeoutSeconds, failureThreshold)).toBeGreaterThan(1);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(stopSeconds(settings(role)));
  });

  it.each(['control-plane', 'gateway'] as const)('mounts what the %s reads and writes', (role) => {
    const { spec } = workloads[role];
    const pod = spec.template.spec;
    const [container] = pod.containers;
    const mounts: string[] = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
    const files: string[] = container.env.flatMap(({ name, value }: { name: string; value: string }) =>
      name.endsWith('_FILE') ? [value] : [],
    );
    for (const file of [...files, '/data/x', '/tmp/x']) expect(mounts).toContain(file.slice(0, file.lastIndexOf('/')));
    const claims = (spec.volumeClaimTemplates ?? []).map((claim: { metadata: { name: string } }) => claim.metadata.name);
    const volumes = [...pod.volumes.map(({ name }: { name: string }) => name), ...claims];
    expect(container.volumeMounts.map(({ name }: { name: string }) => name).sort()).toEqual(volumes.sort());
  });

  it('reads every setting that may hold a credential from a secret', () => {
    const given = Object.values(workloads).flatMap(({ spec }) => spec.template.spec.containers[0].env as { name: string }[]);
    const names = [...given.map(({ name }) => name), ...Object.keys(shared)];
    expect(names.filter((name) => secretNames.includes(name))).toEqual([]);
  });

  it('has room for the records of SPOOL_MAX, and spreads pods over nodes', () => {
    const [claim] = workloads.gateway.spec.volumeClaimTemplates;
    const gibibytes = Number.parseInt(claim.spec.resources.requests.storage, 10);
    expect(claim.spec.resources.requests.storage).toBe(`${gibibytes}Gi`);
    expect(settings('gateway').spoolBytesMax).toBeLessThan(gibibytes * 2 ** 30);
    for (const { spec } of Object.values(workloads)) {
      const [spread] = spec.template.spec.topologySpreadConstraints;
      expect(spread.labelSelector).toEqual(spec.selector);
    }
  });

  it('keeps the database from gateways', () => {
    expect(JSON.stringify(workloads.gateway)).not.toContain('database');
  });

  it('has services that lead to the pods, at the addresses of the settings', () => {
    const labels = (role: keyof typeof workloads) => workloads[role].spec.template.metadata.labels;
    const reach = (url: string, role: keyof typeof workloads): void => {
      const { hostname, port } = new URL(url);
      const { selector, ports } = of('Service', hostname).spec;
      expect([selector, ports]).toEqual([labels(role), [{ name: 'http', port: Number(port), targetPort: 'http' }]]);
    };
    reach(settings('gateway').controlPlaneUrl, 'control-plane');
    reach(settings('control-plane').gatewayUrl, 'gateway');
    expect(of('Service', workloads.gateway.spec.serviceName).spec.selector).toEqual(labels('gateway'));
    for (const role of ['control-plane', 'gateway'] as const) {
      expect(workloads[role].spec.selector.matchLabels).toEqual(labels(role));
      expect(of('PodDisruptionBudget', workloads[role].metadata.name).spec.selector.matchLabels).toEqual(labels(role));
    }
    const { podSelector, ingress } = of('NetworkPolicy', 'svc-gateway-control-plane').spec;
    expect(podSelector.matchLabels).toEqual(labels('control-plane'));
    expect(ingress[0].from[0].podSelector.matchLabels).toEqual(labels('gateway'));
    expect(ingress[0].ports).toEqual([{ port: settings('control-plane').controlPlanePort }]);
  });

  it('has the secrets that docs/operations.md creates', () => {
    const text = readFileSync(join(docs, 'operations.md'), 'utf8');
    for (const { spec } of Object.values(workloads)) {
      for (const { name, secret } of spec.template.spec.volumes) {
        if (!secret) continue;
        expect(text).toContain(`kubectl create secret generic ${secret.secretName}`);
        const [container] = spec.template.spec.containers;
        for (const { value } of container.env) {
          if (value.startsWith(`/run/secrets/${name}/`)) expect(text).toContain(`--from-literal=${basename(value)}=`);
        }
      }
    }
  });
});

describe('docs/systemd/svc-gateway.service', () => {
  const unit = readFileSync(join(docs, 'systemd/svc-gateway.service'), 'utf8');
  const settingOf = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];

  it('waits for the end of requests, and survives that the kernel kills one process', () => {
    expect(Number(settingOf('TimeoutStopSec'))).toBeGreaterThanOrEqual(
      stopSeconds(settingsOf({ ENCRYPTION_KEY_FILE: 'encryption-key', CLUSTER_KEY_FILE: 'cluster-key' })),
    );
    expect(settingOf('OOMPolicy')).toBe('continue');
  });

  it('is started again until a start succeeds: systemd gives up after five starts within 10 s', () => {
    expect(settingOf('Restart')).toBe('on-failure');
    expect(5 * Number(settingOf('RestartSec'))).toBeGreaterThan(10);
  });
});

describe('docs/container/compose.yaml', () => {
  it('has its secrets in a folder that git and the npm package leave out', () => {
    const root = join(docs, '..');
    const copy = join(folder, 'package');
    mkdirSync(join(copy, 'docs/container/secrets'), { recursive: true });
    for (const file of ['package.json', '.gitignore']) cpSync(join(root, file), join(copy, file));
    writeFileSync(join(copy, 'docs/container/compose.yaml'), '');
    writeFileSync(join(copy, 'docs/container/secrets/encryption-key'), 'secret');
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: copy, encoding: 'utf8' }),
    );
    const paths = packed.files.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(['docs/container/compose.yaml', 'package.json']);
    execFileSync('git', ['check-ignore', '--quiet', 'docs/container/secrets/encryption-key'], { cwd: root });
  });

  const text = readFileSync(join(docs, 'container/compose.yaml'), 'utf8');
  const { services, secrets: given, volumes } = parse(text);

  it('has settings with which the service starts, and its port', () => {
    const settings = settingsOf(services.gateway.environment);
    expect(settings).toMatchObject({ role: 'all', host: '0.0.0.0', databaseUrl: secrets['database-url'] });
    expect(services.gateway.ports).toEqual([`127.0.0.1:${settings.port}:${settings.port}`]);
    expect(Number.parseInt(services.gateway.stop_grace_period, 10)).toBeGreaterThanOrEqual(stopSeconds(settings));
  });

  it('has every secret and volume that its services use, and says how each file is made', () => {
    const used = Object.values(services).flatMap((service) => (service as { secrets: string[] }).secrets);
    expect(Object.keys(given).sort()).toEqual(used.sort());
    for (const { file } of Object.values(given) as { file: string }[]) expect(text).toContain(`> ${file}\n`);
    const mounted = Object.values(services).flatMap((service) => (service as { volumes: string[] }).volumes);
    expect(mounted.map((one) => one.split(':')[0]).sort()).toEqual(Object.keys(volumes).sort());
  });
});
