import { hidesForeignItems } from '../../support/refusal-suites.ts';

hidesForeignItems(
  'feedback',
  async (plane) => {
    const body = { trace_id: 't', value: 1 };
    return [(await plane.ask('POST', '/feedback', { key: plane.workspaceKey, body })).body.feedback_ids[0]];
  },
  (name) => [{ method: 'PUT', path: `/feedback/${name}`, body: { value: 1 } }],
  ['workspaceKey'],
);
