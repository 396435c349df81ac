import type { Probe } from '../../support/refusal-suites.ts';

export const greeting = {
  name: 'Greeting',
  string: '[{"role":"user","content":"Hello {{name}}"}]',
  parameters: { temperature: 0.2 },
  model: 'echo',
  virtual_key: 'mock',
};

/** Every route of prompts, partials, collections and labels for one id, with bodies that would pass. */
export function probes(id: string): Probe[] {
  return [
    { method: 'GET', path: '/prompts' },
    { method: 'POST', path: '/prompts', body: greeting },
    { method: 'GET', path: '/prompts/partials' },
    { method: 'POST', path: '/prompts/partials', body: { name: 'Partial', string: 'Hello' } },
    { method: 'GET', path: '/collections' },
    { method: 'POST', path: '/collections', body: { name: 'Collection' } },
    { method: 'GET', path: '/tools' },
    { method: 'POST', path: '/tools', body: { name: 'Tool', tool_def: { type: 'function' } } },
    { method: 'GET', path: '/labels' },
    { method: 'POST', path: '/labels', body: { name: 'beta' } },
    ...itemProbes(id),
  ];
}

/** The routes of probes() that name an item. */
function itemProbes(id: string): Probe[] {
  return [
    ...['/prompts', '/prompts/partials'].flatMap((path): Probe[] => [
      { method: 'GET', path: `${path}/${id}` },
      { method: 'PUT', path: `${path}/${id}`, body: { name: 'Renamed' } },
      { method: 'DELETE', path: `${path}/${id}` },
      { method: 'GET', path: `${path}/${id}/versions` },
      { method: 'PUT', path: `${path}/${id}/makeDefault`, body: { version: 1 } },
      { method: 'GET', path: `${path}/${id}/share` },
      { method: 'POST', path: `${path}/${id}/share`, body: { shared_with: 'organisation' } },
      { method: 'PUT', path: `${path}/${id}/share`, body: { shared_with: 'organisation' } },
      { method: 'DELETE', path: `${path}/${id}/share` },
      { method: 'POST', path: `${path}/${id}/unshare`, body: {} },
      { method: 'POST', path: `${path}/${id}/fork`, body: {} },
    ]),
    { method: 'GET', path: `/prompts/${id}/versions/1` },
    { method: 'PUT', path: `/prompts/${id}/versions/1`, body: { label_id: null } },
    { method: 'GET', path: `/prompts/${id}/diff` },
    { method: 'GET', path: `/prompts/${id}/labels` },
    { method: 'PUT', path: `/prompts/${id}/labels/staging`, body: { version: 1 } },
    { method: 'DELETE', path: `/prompts/${id}/labels/staging` },
    { method: 'POST', path: `/prompts/${id}/labels/staging/revert`, body: {} },
    { method: 'GET', path: `/tools/${id}/versions` },
    { method: 'PUT', path: `/tools/${id}/makeDefault`, body: { version: 1 } },
    ...['/collections', '/labels', '/tools'].flatMap((path): Probe[] => [
      { method: 'GET', path: `${path}/${id}` },
      { method: 'PUT', path: `${path}/${id}`, body: { name: 'renamed' } },
      { method: 'DELETE', path: `${path}/${id}` },
    ]),
  ];
}
