{{/* The beginning of all names of this release. */}}
{{- define "project-name.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name -}}
{{- end -}}
{{- end -}}

{{/* Whether a switch is on: it is unless it is false. */}}
{{- define "project-name.on" -}}
{{- $values := default dict .in -}}
{{- if or (not (hasKey $values .key)) (index $values .key) -}}on{{- end -}}
{{- end -}}

{{/* The name of the service account of the manager. */}}
{{- define "project-name.account" -}}
{{- $account := default dict .Values.serviceAccount -}}
{{- if $account.name -}}
{{- $account.name -}}
{{- else if not (include "project-name.on" (dict "in" $account "key" "create")) -}}
default
{{- else -}}
{{- $own := (.Files.Get "files/manager.yaml" | fromYaml).serviceAccount -}}
{{- $own | replace "chart-value-fullname" (include "project-name.fullname" .) -}}
{{- end -}}
{{- end -}}

{{/* A file as JSON, with the values of this release. In JSON every text is in quotes, whatever the value is. */}}
{{- define "project-name.data" -}}
{{- .root.Files.Get .path | fromYaml | toJson
  | replace "chart-value-fullname" (include "project-name.fullname" .root)
  | replace "chart-value-account" (include "project-name.account" .root)
  | replace "chart-value-instance" .root.Release.Name
  | replace "chart-value-namespace" .root.Release.Namespace -}}
{{- end -}}

{{/* Adds labels or annotations to an object. */}}
{{- define "project-name.put" -}}
{{- $map := default dict (index .in .key) -}}
{{- range $key, $value := .values -}}
{{- $_ := set $map $key $value -}}
{{- end -}}
{{- $_ := set .in .key $map -}}
{{- end -}}

{{/* Removes from a list the entries that have one of these values. */}}
{{- define "project-name.drop" -}}
{{- $kept := list -}}
{{- range (default list (index .in .list)) -}}
{{- if not (has (index . $.key) $.values) -}}{{- $kept = append $kept . -}}{{- end -}}
{{- end -}}
{{- $_ := set .in .list $kept -}}
{{- end -}}

{{/* An object as YAML, with the labels of this release. */}}
{{- define "project-name.object" -}}
{{- $metadata := .object.metadata -}}
{{- if and (eq .object.kind "Service") (gt (len $metadata.name) 63) -}}
{{- fail (printf "the name of the Service `%s` is longer than 63 characters: set a shorter `fullnameOverride`" $metadata.name) -}}
{{- end -}}
{{- $chart := printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" -}}
{{- $labels := dict
  "app.kubernetes.io/instance" .root.Release.Name
  "app.kubernetes.io/managed-by" .root.Release.Service
  "helm.sh/chart" $chart -}}
{{- if .root.Chart.AppVersion -}}
{{- $_ := set $labels "app.kubernetes.io/version" (.root.Chart.AppVersion | replace "+" "_" | trunc 63 | trimSuffix "-") -}}
{{- end -}}
{{- if not (hasKey (default dict $metadata.labels) "app.kubernetes.io/name") -}}
{{- $_ := set $labels "app.kubernetes.io/name" (default .root.Chart.Name .root.Values.nameOverride) -}}
{{- end -}}
{{- include "project-name.put" (dict "in" $metadata "key" "labels" "values" $labels) -}}
---
{{ toYaml .object }}
{{ end -}}
