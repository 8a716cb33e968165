-- +goose Up
-- What a schedule submits, so that other cores of the database do it too. An empty type: the schedule is that of each core's program.
ALTER TABLE job_schedules ADD COLUMN type TEXT NOT NULL DEFAULT '';
ALTER TABLE job_schedules ADD COLUMN payload TEXT NOT NULL DEFAULT '';
ALTER TABLE job_schedules ADD COLUMN locks TEXT NOT NULL DEFAULT '';
