import type { TransactionSql } from 'postgres'

export interface Subscription {
  action: string
  capture_snapshot: boolean
}

export interface Configuration {
  id: string
  name: string | null
  hook_consumer_url: string
  producer_url: string | null
  is_enabled: boolean
  is_immediate: boolean
  disabled_reason: string | null
  disabled_time: Date | null
  creation_time: Date
  subscriptions: Subscription[]
  failing_since: Date | null
  delivered: number
  failed: number
  waiting: number
  last_delivered_time: Date | null
}

/** The configurations of the business with their health of the last 24 hours, or only the one with an id. */
export const readConfigurations = (sql: TransactionSql, only: string | null = null) =>
  sql<Configuration[]>`
    select c.id, c.name, c.hook_consumer_url, c.producer_url, c.is_enabled, c.is_immediate, c.disabled_reason,
      c.disabled_time, c.creation_time, h.failing_since, h.delivered, h.failed, h.waiting, h.last_delivered_time,
      (
        select coalesce(jsonb_agg(jsonb_build_object('action', a.action, 'capture_snapshot', a.capture_snapshot)
          order by a.action), '[]')
        from api.webhook_configuration_actions a
        where a.business_id = c.business_id and a.webhook_configuration_id = c.id
      ) as subscriptions
    from api.webhook_configurations c
    join internal.webhook_configurations_health(now() - interval '24 hours') h on h.webhook_configuration_id = c.id
    where ${only}::uuid is null or c.id = ${only}
    order by c.is_enabled desc, coalesce(c.name, c.hook_consumer_url), c.id`

export interface Choice {
  id: string
  name: string | null
  hook_consumer_url: string
  is_enabled: boolean
}

/** To choose from. */
export const readConfigurationChoices = (sql: TransactionSql) =>
  sql<Choice[]>`
    select id, name, hook_consumer_url, is_enabled
    from api.webhook_configurations
    order by coalesce(name, hook_consumer_url), id`

export interface Action {
  action: string
  description: string
}

export const readActions = (sql: TransactionSql) =>
  sql<Action[]>`select action, description from api.webhook_actions order by resource desc, action`
