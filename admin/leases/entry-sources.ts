const reserved = `(select distinct on (one->>'key') one->>'key' as key, (one->>'startMs')::bigint as start_ms, (one->>'units')::bigint as units
  from jsonb_array_elements(r.record->'reservations') with ordinality as listed(one, at)
  where one->>'key' not like 'rate:%' order by one->>'key', at desc)`;

/** Usage of the budget `b` by the figures of a record. */
export const billedAmount = `case b.unit when 'cost' then coalesce(r.cost_micro_usd * 1000 + r.cost_nano_rest, 0) when 'requests' then 1
  else ((r.record->>'inputTokens')::numeric + (r.record->>'cacheReadTokens')::numeric + (r.record->>'cacheWriteTokens')::numeric
    + (r.record->>'outputTokens')::numeric)::bigint end`;

/**
 * Sources of entries, as `from` clauses of SQL with the aliases `r` (record), `e` (`key`, `start_ms`) and `b` (budget), and the expression of
 * the amount. `shown`: entries that records show by themselves; the last reservation of a budget is the one in use. `own`: those stored apart.
 */
export const entrySources = {
  shown: {
    from: `request_records r cross join lateral ${reserved} e
      join limit_budgets b on b.key = e.key and b.organisation_id = r.organisation_id`,
    where: `e.start_ms > 0 and r.record->>'session' is null`,
    // An interrupted call is billed everything that was reserved for it.
    amount: `case when r.outcome = 'interrupted' then e.units * case when b.unit = 'cost' then 1000 else 1 end else ${billedAmount} end`,
  },
  own: {
    from: `limit_entries e join request_records r on r.id = e.record_id and r.created_at = e.created_at
      join limit_budgets b on b.key = e.key`,
    where: 'true',
    amount: 'e.amount',
  },
} as const;
