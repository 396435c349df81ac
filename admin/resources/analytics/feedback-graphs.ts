import type { EntityManager } from '../../db/open-database.ts';
import type { Condition } from '../logs/filters.ts';
import type { GraphBody } from './graphs.ts';
import { bucketsOf } from './range.ts';
import type { Selection } from './source.ts';
import { recordConditions } from './source.ts';

type FeedbackGraph = 'feedbacks' | 'feedbacks/scores' | 'feedbacks/weighted' | 'feedbacks/ai-models';

const weighted = 'coalesce(sum(f.value * f.weight) / nullif(sum(f.weight), 0), 0)::float8';

/** Graphs of feedback, which is read from its own table: by the time of the feedback, and by the requests of its trace. */
export const feedbackGraphs: {
  readonly [Name in FeedbackGraph]: (em: EntityManager, of: Selection) => Promise<GraphBody<Name>>;
} = {
  async feedbacks(em, selection) {
    const { all, points } = await readByTime<{ total: number }>(em, selection, 'count(*)::float8 as total');
    return {
      summary: { total: all?.total ?? 0 },
      data_points: points.map(({ timestamp, figures }) => ({ timestamp, total: figures?.total ?? 0 })),
    };
  },

  async 'feedbacks/weighted'(em, selection) {
    const { all, points } = await readByTime<{ avg: number }>(em, selection, `${weighted} as avg`);
    return {
      summary: { avg: all?.avg ?? 0 },
      data_points: points.map(({ timestamp, figures }) => ({ timestamp, avg: figures?.avg ?? 0 })),
    };
  },

  async 'feedbacks/scores'(em, selection) {
    const { text, values } = feedbacksOf(selection);
    const rows = await em.execute<{ score: number; total: number }[]>(
      `select f.value::int as score, count(*)::float8 as total from feedbacks f where ${text} group by 1 order by 1`,
      [...values],
    );
    return { summary: { total: rows.reduce((sum, { total }) => sum + total, 0) }, data_points: rows };
  },

  async 'feedbacks/ai-models'(em, selection) {
    const { text, values } = feedbacksOf(selection);
    const rows = await em.execute<{ ai_model: string | null; total: number; avg_weighted_feedback: number }[]>(
      `select m.model as ai_model, count(*)::float8 as total, ${weighted} as avg_weighted_feedback
       from feedbacks f left join lateral (
         select distinct r.model from request_records r
         where r.trace_id = f.trace_id and r.organisation_id = f.organisation_id and r.workspace_id = f.workspace_id
           and r.model is not null) m on true
       where ${text} group by 1 order by 2 desc, 1`,
      [...values],
    );
    return { summary: {}, data_points: rows };
  },
};

/** Returns the figures of each bucket and of all. */
async function readByTime<Figures>(em: EntityManager, selection: Selection, figures: string) {
  const { text, values } = feedbacksOf(selection);
  const { bucketMs } = selection.range;
  const rows = await em.execute<(Figures & { bucket: number | null })[]>(
    `select (floor(extract(epoch from f.created_at) * 1000 / ?) * ?)::float8 as bucket, ${figures}
     from feedbacks f where ${text} group by grouping sets ((1), ())`,
    [bucketMs, bucketMs, ...values],
  );
  const byBucket = new Map(rows.map((row) => [row.bucket === null ? null : Number(row.bucket), row as Figures]));
  const points = bucketsOf(selection.range).map((at) => ({ timestamp: new Date(at).toISOString(), figures: byBucket.get(at) }));
  return { all: byBucket.get(null), points };
}

/** The feedback of a selection. With filters, feedback counts if a request of its trace passes them. */
function feedbacksOf(selection: Selection): Condition {
  const { organisationId, workspaceId, range } = selection;
  const { conditions, isFiltered } = recordConditions(selection);
  const parts = [
    { text: 'f.organisation_id = ?', values: [organisationId] },
    { text: 'f.created_at >= ? and f.created_at < ?', values: [new Date(range.fromMs), new Date(range.toMs)] },
    ...(workspaceId === null ? [] : [{ text: 'f.workspace_id = ?', values: [workspaceId] }]),
    ...(isFiltered
      ? [
          {
            text: `exists (select from (${conditions.text}) r where r.trace_id = f.trace_id and r.workspace_id = f.workspace_id)`,
            values: conditions.values,
          },
        ]
      : []),
  ];
  return { text: parts.map(({ text }) => text).join(' and '), values: parts.flatMap(({ values }) => values) };
}
