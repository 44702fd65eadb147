/** What the load client is told to do. A lane is one connection that sends its list, one after the other. */
export type Load = HttpLoad | SqlLoad

export interface HttpLoad {
  kind: 'http'
  /** `unix:/path/of/socket` or `http://host:port`. */
  target: string
  lanes: HttpRequest[][]
  /** The lanes start over until the time is up; without it each list is sent once. */
  milliseconds?: number
}

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  headers: Record<string, string>
  body?: string
}

export interface SqlLoad {
  kind: 'sql'
  url: string
  lanes: Transaction[][]
  milliseconds?: number
}

export type Transaction = Statement[]

export interface Statement {
  text: string
  /** An object goes into a jsonb column. */
  parameters: (string | number | boolean | null | Record<string, string>)[]
}

export interface LoadResult {
  done: number
  milliseconds: number
}

export type LoadAnswer = { result: LoadResult } | { problem: string }

export const perSecond = ({ done, milliseconds }: LoadResult): number => (done * 1_000) / milliseconds
